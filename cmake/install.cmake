# `cmake --install`, and what find_package(muster) reads afterwards.
include(CMakePackageConfigHelpers)

set(muster_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/muster)

install(TARGETS muster EXPORT muster-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET muster_parallel)  # apart, so that who has no oneTBB can use the rest
    install(TARGETS muster_parallel EXPORT muster-parallel-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(EXPORT muster-parallel-targets NAMESPACE muster:: DESTINATION ${muster_config_dir})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp")
install(EXPORT muster-targets NAMESPACE muster:: DESTINATION ${muster_config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/muster-config.cmake.in
    ${PROJECT_BINARY_DIR}/muster-config.cmake INSTALL_DESTINATION ${muster_config_dir})
# Before 1.0 a minor version may break what stands on it.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
        DESTINATION ${muster_config_dir})

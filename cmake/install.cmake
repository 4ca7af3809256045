# Install rules, and the package files that find_package(muster) reads.
include(CMakePackageConfigHelpers)

set(muster_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/muster)

install(TARGETS muster EXPORT muster-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET muster_parallel)  # a separate export, so that the rest works without oneTBB
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
# Before 1.0, a minor version may break compatibility.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/muster-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/muster-config.cmake ${PROJECT_BINARY_DIR}/muster-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/compiler.cmake
        DESTINATION ${muster_config_dir})

# Files for pkg-config. The prefix is relative to the .pc file, so that the installed tree can be moved.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(muster_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH muster_pc_prefix /${pc_dir} /)
    string(REGEX REPLACE "/$" "" muster_pc_prefix "\${pcfiledir}/${muster_pc_prefix}")
endif()
foreach(dir libdir includedir)
    string(TOUPPER ${dir} upper)
    if(IS_ABSOLUTE "${CMAKE_INSTALL_${upper}}")
        set(muster_pc_${dir} ${CMAKE_INSTALL_${upper}})
    else()
        set(muster_pc_${dir} "\${prefix}/${CMAKE_INSTALL_${upper}}")
    endif()
endforeach()
# Programs must compile the headers with the options of the library; otherwise their inline code differs.
set(muster_pc_definitions)
foreach(name EXCEPTIONS UNCHECKED THREAD_CHECKS)
    if(name STREQUAL "EXCEPTIONS")
        set(is_set 1)
        if(MUSTER_NO_EXCEPTIONS)
            set(is_set 0)
        endif()
    elseif(MUSTER_${name})
        set(is_set 1)
    else()
        set(is_set 0)
    endif()
    list(APPEND muster_pc_definitions -DMUSTER_${name}=${is_set})
endforeach()
list(JOIN muster_pc_definitions " " muster_pc_definitions)
get_target_property(muster_type muster TYPE)
if(muster_type STREQUAL "SHARED_LIBRARY")
    set(muster_pc_requires "Requires: muster\nRequires.private: tbb")
else()  # a program that links an archive must also link its dependencies
    set(muster_pc_requires "Requires: muster, tbb")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/muster.pc.in ${PROJECT_BINARY_DIR}/muster.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/muster.pc DESTINATION ${pc_dir})
if(TARGET muster_parallel)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/muster-parallel.pc.in ${PROJECT_BINARY_DIR}/muster-parallel.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/muster-parallel.pc DESTINATION ${pc_dir})
endif()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The pretty printers for GDB; see docs/debugging.md.
install(FILES ${PROJECT_SOURCE_DIR}/tools/gdb/muster.py DESTINATION ${CMAKE_INSTALL_DATADIR}/muster/gdb)

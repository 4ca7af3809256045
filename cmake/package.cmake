# `cpack -G DEB` in a build directory creates a Debian package from the install rules.
set(CPACK_PACKAGE_NAME libmuster-dev)
set(CPACK_PACKAGE_VENDOR "Muster developers")
set(CPACK_PACKAGE_CONTACT "Muster developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "entity component system for C++20")
set(CPACK_PACKAGE_DESCRIPTION
"Muster keeps many small things, each with components of any C++ type, in
contiguous arrays, and finds them by what they have. Every handle knows, in
every build, whether what it names is alive and of this world.
.
This package has the headers, the library, the files for CMake and
pkg-config, and the printers for GDB.")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES OFF)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Muster developers")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
if(TARGET muster_parallel)
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libtbb-dev)
endif()
if(BUILD_SHARED_LIBS)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

# Debian requires the licence at this path. Other installations do not get this copy.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/libmuster-dev RENAME copyright
        COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR};muster;ALL;/ ${PROJECT_BINARY_DIR};muster;debian;/)
include(CPack)

# Not a toolchain: the one door through which a build of grpcio-sys can be given
# a file of ours (cmake reads CMAKE_TOOLCHAIN_FILE from the environment).
set(CMAKE_PROJECT_grpc_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/unity.cmake")

# With a toolchain file the cmake crate hands over neither the system nor the C
# compiler of a cross build. grpcio-sys names the C++ compiler itself, from $CXX.
if(NOT "$ENV{TARGET}" STREQUAL "$ENV{HOST}")
  string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR "$ENV{TARGET}")
  set(CMAKE_SYSTEM_NAME Linux)
  string(REPLACE "-" "_" target_name "$ENV{TARGET}")
  if(DEFINED "ENV{CC_${target_name}}")
    set(CMAKE_C_COMPILER "$ENV{CC_${target_name}}")
    set(CMAKE_ASM_COMPILER "${CMAKE_C_COMPILER}")
  endif()
endif()

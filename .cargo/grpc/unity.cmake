# A unity build of gRPC's own targets: sixteen C++ files are compiled as one, so
# that their common headers are read once. abseil, re2 and c-ares do not take it.
if(CMAKE_VERSION VERSION_LESS 3.19)
  return() # no deferred calls: slower, and the same library
endif()

function(agones_shim_unity)
  foreach(target grpc_unsecure gpr upb)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
    get_target_property(sources ${target} SOURCES)
    # C has no namespaces: static functions of one name meet. The others define
    # the same names in anonymous namespaces, or macros that reach the next file.
    list(FILTER sources INCLUDE REGEX
      "\\.c$|ev_poll_posix\\.cc$|ev_epoll1_linux\\.cc$|bin_encoder\\.cc$|local_transport_security\\.cc$|grpc_alts_credentials_server_options\\.cc$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
cmake_language(DEFER CALL agones_shim_unity)

# A unity build of gRPC's own targets: sixteen C++ files are compiled as one, so
# that their common headers are read once. abseil, re2 and c-ares do not take it.
if(CMAKE_VERSION VERSION_LESS 3.19)
  return() # no deferred calls: slower, and the same library
endif()

set(agones_shim_plugin_registry "${CMAKE_CURRENT_LIST_DIR}/plugin_registry.cc")

function(agones_shim_unity)
  # A list of parts of our own in place of gRPC's; who dials nothing by name says so.
  get_target_property(sources grpc_unsecure SOURCES)
  list(REMOVE_ITEM sources src/core/plugin_registry/grpc_plugin_registry.cc)
  list(APPEND sources "${agones_shim_plugin_registry}")
  set_target_properties(grpc_unsecure PROPERTIES SOURCES "${sources}")
  set_source_files_properties("${agones_shim_plugin_registry}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(NOT "$ENV{TARGET}" STREQUAL "$ENV{HOST}")
    set_source_files_properties("${agones_shim_plugin_registry}" PROPERTIES
      COMPILE_DEFINITIONS AGONES_SHIM_NO_CLIENT_CHANNEL)
  endif()

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

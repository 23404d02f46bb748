# A unity build of gRPC's own targets: sixteen C++ files are compiled as one, so
# that their common headers are read once. abseil, re2 and c-ares do not take it.
if(CMAKE_VERSION VERSION_LESS 3.19)
  return() # no deferred calls: slower, and the same library
endif()

set(agones_shim_files "${CMAKE_CURRENT_LIST_DIR}")

# In the sources of grpc_unsecure, one file in place of another: where that one stood, as the batches of a unity build
# are counted off, and not every sixteen files go together.
function(agones_shim_replace theirs ours)
  get_target_property(sources grpc_unsecure SOURCES)
  list(FIND sources "${theirs}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "agones-shim: gRPC has no ${theirs}: look again at what takes its place")
  endif()
  list(INSERT sources ${place} "${ours}")
  list(REMOVE_ITEM sources "${theirs}")
  set_target_properties(grpc_unsecure PROPERTIES SOURCES "${sources}")
endfunction()

# gRPC's executor without the thread that looks up names: among the parts of what is shipped is none that asks it to.
# (It is told apart from the other, whose one long job a full socket needs. Without a thread, whoever asks does it.)
function(agones_shim_executor)
  file(READ src/core/lib/iomgr/executor.cc text)
  set(start "  executors[static_cast<size_t>(ExecutorType::RESOLVER)]->Init();\n")
  string(FIND "${text}" "${start}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "agones-shim: another executor.cc: look again at what starts its threads")
  endif()
  string(REPLACE "${start}" "" text "${text}")
  file(WRITE "${CMAKE_BINARY_DIR}/executor.cc" "${text}")
  agones_shim_replace(src/core/lib/iomgr/executor.cc "${CMAKE_BINARY_DIR}/executor.cc")
endfunction()

function(agones_shim_unity)
  # What is shipped has a list of parts of its own in place of gRPC's, and starts no threads that it never needs. The
  # build for tests keeps gRPC's: their clients dial by name.
  if(NOT "$ENV{TARGET}" STREQUAL "$ENV{HOST}")
    agones_shim_replace(src/core/plugin_registry/grpc_plugin_registry.cc "${agones_shim_files}/plugin_registry.cc")
    set_source_files_properties("${agones_shim_files}/plugin_registry.cc" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    agones_shim_replace(src/core/lib/event_engine/default_event_engine_factory.cc "${agones_shim_files}/event_engine.cc")
    agones_shim_executor()
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

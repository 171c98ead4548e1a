# Where things lie at run time (HACKING.md, "Where the program finds its parts"): in a build folder
# beside the program and in the source folder, after installation under PREFIX.
get_target_property(pragma_cli_kind pragma_cli TYPE)
if(NOT pragma_cli_kind STREQUAL "INTERFACE_LIBRARY")
  target_compile_definitions(pragma_cli PRIVATE
    PRAGMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PRAGMA_VERSION="${PROJECT_VERSION}")
endif()

if(TARGET pragma)
  install(TARGETS pragma RUNTIME DESTINATION bin)
endif()
foreach(program pragma-init pragma-worker pragma-confine pragma-probe pragma-profiler)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION lib/pragma)
  endif()
endforeach()
foreach(folder prompts strategies knowledge)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} DESTINATION share/pragma)
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/pragma_torch ${CMAKE_SOURCE_DIR}/python/pragma_export
                  ${CMAKE_SOURCE_DIR}/python/pragma_candidate
        DESTINATION share/pragma/python
        PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/python/pragma_embed.py DESTINATION share/pragma/python)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/pragma)

# Defines where parts are located at run time (HACKING.md, "Where the program finds its parts"). In a build folder they
# are in the program's folder and in the source folder. After installation they are under PREFIX.
#
# The next lines find the JavaScript libraries of HTML reports (docs/report.md).
find_path(PRAGMA_D3_DIR d3.min.js PATHS /usr/share/nodejs/d3/dist NO_DEFAULT_PATH REQUIRED)
find_path(PRAGMA_DIFF_DIR diff.js PATHS /usr/share/nodejs/diff/dist NO_DEFAULT_PATH REQUIRED)
foreach(layer app serve cli)
  get_target_property(kind pragma_${layer} TYPE)
  if(kind STREQUAL STATIC_LIBRARY)
    target_compile_definitions(pragma_${layer} PRIVATE
      PRAGMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PRAGMA_VERSION="${PROJECT_VERSION}"
      PRAGMA_D3_DIR="${PRAGMA_D3_DIR}" PRAGMA_DIFF_DIR="${PRAGMA_DIFF_DIR}")
  endif()
endforeach()

if(TARGET pragma)
  install(TARGETS pragma RUNTIME DESTINATION bin)
endif()
foreach(program pragma-init pragma-worker pragma-confine pragma-probe pragma-profiler pragma-device
    pragma-amd-device pragma-cuda-worker pragma-cuda-profiler)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION lib/pragma)
  endif()
endforeach()
foreach(folder prompts strategies knowledge report)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder} DESTINATION share/pragma)
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/pragma_torch ${CMAKE_SOURCE_DIR}/python/pragma_export
                  ${CMAKE_SOURCE_DIR}/python/pragma_candidate ${CMAKE_SOURCE_DIR}/python/pragma_triton
                  ${CMAKE_SOURCE_DIR}/python/pragma_model ${CMAKE_SOURCE_DIR}/python/pragma_kernels
        DESTINATION share/pragma/python
        PATTERN "__pycache__" EXCLUDE PATTERN "*.pyc" EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/python/pragma_embed.py DESTINATION share/pragma/python)
install(FILES ${PRAGMA_D3_DIR}/d3.min.js ${PRAGMA_DIFF_DIR}/diff.js
        DESTINATION share/pragma/report)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION share/pragma)

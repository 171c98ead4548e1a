# pragma_layer(NAME LAYERS ... USES ...): src/NAME/*.cc becomes the static library pragma_NAME, and
# src/NAME/*_test.cc the test program NAME_test. Folders that do not exist yet are passed over.
set(PRAGMA_SANITIZE "" CACHE STRING "Sanitizers of the layers and tests: address,undefined or thread")
option(PRAGMA_LINT "Run clang-tidy 19 on every file that is compiled" OFF)
option(PRAGMA_COVERAGE "Count executed lines of the layers" OFF)

# What makes building quicker, where it is there.
find_program(PRAGMA_CCACHE ccache)
if(PRAGMA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PRAGMA_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PRAGMA_CCACHE})
endif()
find_program(PRAGMA_MOLD mold)

if(PRAGMA_LINT)
  find_program(PRAGMA_CLANG_TIDY clang-tidy-19 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${PRAGMA_CLANG_TIDY} --quiet)
endif()

add_library(pragma_options INTERFACE)
target_include_directories(pragma_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR})
target_compile_options(pragma_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                -Wno-missing-field-initializers)
# False alarms. g++ 12, when it optimises: inside fmt 9's format parser, and "a" + std::string.
# clang with g++ 12's library: std::stable_sort there uses what C++17 deprecates; instrumented for
# fuzzing it does not vectorise what `omp simd` asks for, which is no defect.
target_compile_options(pragma_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-pass-failed>)
if(PRAGMA_WERROR)
  target_compile_options(pragma_options INTERFACE -Werror)
endif()
if(PRAGMA_MOLD)
  target_link_options(pragma_options INTERFACE -fuse-ld=mold)
endif()

# Sanitizers, fuzzing and coverage: for our own process only. The jailed programs stay as they are:
# they run under limits that no sanitizer's shadow memory fits in.
add_library(pragma_instrument INTERFACE)
if(PRAGMA_SANITIZE)
  set(pragma_sanitizers -fsanitize=${PRAGMA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(PRAGMA_FUZZ)
  set(pragma_sanitizers -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
endif()
target_compile_options(pragma_instrument INTERFACE ${pragma_sanitizers} $<$<BOOL:${PRAGMA_COVERAGE}>:--coverage>)
target_link_options(pragma_instrument INTERFACE ${pragma_sanitizers} $<$<BOOL:${PRAGMA_COVERAGE}>:--coverage>)

function(pragma_layer name)
  cmake_parse_arguments(arg "" "" "LAYERS;USES" ${ARGN})
  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/*_test.cc)
  list(REMOVE_ITEM sources ${tests} ${folder}/main.cc)
  if(NOT sources)
    add_library(pragma_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(pragma_${name} STATIC ${sources} ${headers})
    set(scope PUBLIC)
  endif()
  list(TRANSFORM arg_LAYERS PREPEND pragma_)
  target_link_libraries(pragma_${name} ${scope} pragma_options pragma_instrument ${arg_LAYERS} ${arg_USES})
  if(PRAGMA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE pragma_${name} GTest::gmock GTest::gtest_main)
    # The last word on optimisation: half of a test's time to compile goes there.
    target_compile_options(${name}_test PRIVATE $<$<CONFIG:Release>:-O0>)
    if(TARGET pragma_programs)
      add_dependencies(${name}_test pragma_programs)
    endif()
    if(PRAGMA_LINT)
      # In a test an empty optional may end the program, and the analyser's minutes find nothing.
      set_target_properties(${name}_test PROPERTIES CXX_CLANG_TIDY
        "${CMAKE_CXX_CLANG_TIDY};--checks=-misc-include-cleaner,-bugprone-unchecked-optional-access,-clang-analyzer-*,-readability-function-cognitive-complexity")
    endif()
    target_compile_definitions(${name}_test PRIVATE
      PRAGMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PRAGMA_BINARY_DIR="${CMAKE_BINARY_DIR}")
    add_test(NAME ${name}_test COMMAND ${name}_test)
    set_tests_properties(${name}_test PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# pragma_layer(NAME LAYERS ... USES ...) builds src/NAME/*.cc as the static library pragma_NAME, and src/NAME/*_test.cc
# as the test program NAME_test. Folders that do not exist yet are skipped.
set(PRAGMA_SANITIZE "" CACHE STRING "Sanitizers of the layers and tests: address,undefined or thread")
option(PRAGMA_LINT "Run clang-tidy 19 on every file that is compiled" OFF)
option(PRAGMA_COVERAGE "Count executed lines of the layers" OFF)
option(PRAGMA_PCH "Compile what most files include once (headers then are not tried on their own)" ON)
set(PRAGMA_SOURCES "" CACHE STRING "A file that lists what is compiled of the layers; without it, all of them")
option(PRAGMA_UNITY "Compile several files of a layer at once: a whole build is quicker, a small change slower" OFF)

# Uses tools that make builds faster, if they are installed.
find_program(PRAGMA_CCACHE ccache)
if(PRAGMA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PRAGMA_CCACHE})
  # Without this setting ccache does not cache anything that uses precompiled headers.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${PRAGMA_CCACHE})
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
# These options disable false alarms. g++ 12 has them when it optimises, inside fmt 9's format parser and for "a" +
# std::string. clang has them with g++ 12's library, where std::stable_sort uses what C++17 deprecates. Instrumented for
# fuzzing, clang does not vectorise what `omp simd` asks for, which is not a defect.
target_compile_options(pragma_options INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-restrict;-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations;-Wno-pass-failed>)
if(PRAGMA_UNITY)  # a class in a .cc file may have members of types in its unnamed namespace
  target_compile_options(pragma_options INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
if(PRAGMA_WERROR)
  target_compile_options(pragma_options INTERFACE -Werror)
endif()
if(PRAGMA_MOLD)
  target_link_options(pragma_options INTERFACE -fuse-ld=mold)
endif()

# Sanitizers, fuzzing and coverage apply only to pragma's own process. The jailed programs stay uninstrumented, because
# a sanitizer's shadow memory does not fit into their limits.
add_library(pragma_instrument INTERFACE)
if(PRAGMA_SANITIZE)
  set(pragma_sanitizers -fsanitize=${PRAGMA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(PRAGMA_FUZZ)
  set(pragma_sanitizers -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
endif()
target_compile_options(pragma_instrument INTERFACE ${pragma_sanitizers} $<$<BOOL:${PRAGMA_COVERAGE}>:--coverage>)
target_link_options(pragma_instrument INTERFACE ${pragma_sanitizers} $<$<BOOL:${PRAGMA_COVERAGE}>:--coverage>)

# Headers that most files include. A file with compiler options of its own must not use the precompiled ones.
set(pragma_common_headers <algorithm> <array> <chrono> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <filesystem>
                          <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <system_error>
                          <utility> <vector> <fmt/format.h>)
# pragma_precompiled(NAME HEADER...) makes NAME, which targets name in REUSE_FROM.
function(pragma_precompiled name)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "")  # the next configuring leaves it untouched
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE pragma_options pragma_instrument fmt::fmt)
  target_precompile_headers(${name} PRIVATE ${ARGN})
endfunction()
set(pragma_test_options $<$<CONFIG:Release>:-O0>)  # half of a test's compile time goes into optimisation
if(PRAGMA_PCH)
  pragma_precompiled(pragma_headers ${pragma_common_headers})
  if(PRAGMA_TESTS)
    pragma_precompiled(pragma_test_headers ${pragma_common_headers} <gmock/gmock.h> <gtest/gtest.h>)
    target_compile_options(pragma_test_headers PRIVATE ${pragma_test_options})
    target_link_libraries(pragma_test_headers PRIVATE GTest::gmock)
  endif()
endif()

# What these layers do takes no time that anyone notices, and -O2 would be a quarter of their compile time.
set(pragma_light_layers agent app bench cli evidence export knowledge llm report search serve store)
set(pragma_batch 8)
if(PRAGMA_SOURCES)
  set(pragma_batch 16)  # instrumented, the templates that each batch instantiates anew are most of its compile time
  file(STRINGS ${CMAKE_SOURCE_DIR}/${PRAGMA_SOURCES} pragma_only)
  list(TRANSFORM pragma_only PREPEND ${CMAKE_SOURCE_DIR}/src/)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${PRAGMA_SOURCES})
endif()

function(pragma_layer name)
  cmake_parse_arguments(arg "" "" "LAYERS;USES" ${ARGN})
  set(folder ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc ${folder}/*/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.h ${folder}/*/*.h)
  file(GLOB tests CONFIGURE_DEPENDS ${folder}/*_test.cc ${folder}/*/*_test.cc)
  list(REMOVE_ITEM sources ${tests} ${folder}/main.cc)
  if(PRAGMA_SOURCES)
    set(others ${sources})
    list(REMOVE_ITEM others ${pragma_only})
    list(REMOVE_ITEM sources ${others})
  endif()
  if(NOT sources)
    add_library(pragma_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(pragma_${name} STATIC ${sources} ${headers})
    set(scope PUBLIC)
    if(PRAGMA_PCH)
      target_precompile_headers(pragma_${name} REUSE_FROM pragma_headers)
    endif()
    if(name IN_LIST pragma_light_layers)
      target_compile_options(pragma_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    # With unity builds no two files of a layer may use the same name for different things, not even in an unnamed
    # namespace.
    set_target_properties(pragma_${name} PROPERTIES UNITY_BUILD ${PRAGMA_UNITY} UNITY_BUILD_BATCH_SIZE ${pragma_batch})
  endif()
  list(TRANSFORM arg_LAYERS PREPEND pragma_)
  target_link_libraries(pragma_${name} ${scope} pragma_options pragma_instrument ${arg_LAYERS} ${arg_USES})
  if(PRAGMA_TESTS AND tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE pragma_${name} GTest::gmock GTest::gtest_main)
    target_compile_options(${name}_test PRIVATE ${pragma_test_options})
    if(PRAGMA_PCH)
      target_precompile_headers(${name}_test REUSE_FROM pragma_test_headers)
    endif()
    if(TARGET pragma_programs)
      add_dependencies(${name}_test pragma_programs)
    endif()
    if(PRAGMA_LINT)
      # An empty optional may end a test program, and the analyser takes minutes on tests and finds nothing.
      set_target_properties(${name}_test PROPERTIES CXX_CLANG_TIDY
        "${CMAKE_CXX_CLANG_TIDY};--checks=-misc-include-cleaner,-bugprone-unchecked-optional-access,-clang-analyzer-*,-readability-function-cognitive-complexity")
    endif()
    target_compile_definitions(${name}_test PRIVATE
      PRAGMA_SOURCE_DIR="${CMAKE_SOURCE_DIR}" PRAGMA_BINARY_DIR="${CMAKE_BINARY_DIR}")
    add_test(NAME ${name}_test COMMAND ${name}_test)
    set_tests_properties(${name}_test PROPERTIES TIMEOUT 600)
  endif()
endfunction()

# Registers the checks that need no build as CTest tests.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
add_test(NAME layers COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_layers.py)
add_test(NAME prose COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/check_prose.py)
add_test(NAME metrics_page COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/metrics_page.py check)
# Fails if the code of a rule of docs/trust.md has changed in a way that tools/take_out_rules.py no longer finds it.
add_test(NAME trust_rules COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/take_out_rules.py --list)

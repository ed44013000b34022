# Writes the commit that is built into OUT, if it is another than the one that stands there: cmake -DSOURCE=DIR -DOUT=FILE -P write_commit.cmake
# "+" stands behind a commit whose files were changed; without git, or outside of a clone, it is empty.
execute_process(COMMAND git -C "${SOURCE}" rev-parse --short=12 HEAD
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
else()
  execute_process(COMMAND git -C "${SOURCE}" diff --quiet HEAD -- shellgame cmake CMakeLists.txt RESULT_VARIABLE changed ERROR_QUIET)
  if(changed)
    string(APPEND commit "+")
  endif()
endif()
set(text "#define SHELLGAME_COMMIT \"${commit}\"\n")
if(EXISTS "${OUT}")
  file(READ "${OUT}" before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE "${OUT}" "${text}")
endif()

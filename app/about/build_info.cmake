# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the source that says which build this is, where that differs from what it says already:
#   cmake -DSOURCE=… -DOUTPUT=… -DVERSION=… -DTYPE=… -DCOMPILER=… -DMACHINE=… -P build_info.cmake
# The commit is that of the checkout; of an archive that git made, what git wrote into it; else it is unknown.
set(commit unknown)
set(date "")
file(STRINGS ${SOURCE}/app/about/archived_commit archived LIMIT_COUNT 1)
if(archived MATCHES "^([0-9a-f]+) ([-0-9]+)$")
  set(commit ${CMAKE_MATCH_1})
  set(date ${CMAKE_MATCH_2})
elseif(EXISTS ${SOURCE}/.git)
  find_program(GIT git)
  if(GIT)
    # A package is built by root of a tree that may be somebody else's.
    set(git ${GIT} -c safe.directory=${SOURCE} --no-optional-locks -C ${SOURCE})
    execute_process(COMMAND ${git} log -1 --format=%cs OUTPUT_VARIABLE told RESULT_VARIABLE failed ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(date ${told})
    endif()
    execute_process(COMMAND ${git} describe --always --dirty --abbrev=8 --exclude=* OUTPUT_VARIABLE told
      RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      set(commit ${told})
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Written by build_info.cmake.
#include "app/about/build_info.h"

namespace trainyard::about {

const BuildInfo &buildInfo()
{
    static constexpr BuildInfo info { "@VERSION@", "@commit@", "@date@", "@TYPE@", "@COMPILER@", "@MACHINE@" };
    return info;
}

} // namespace trainyard::about
]])

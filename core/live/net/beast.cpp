// SPDX-License-Identifier: GPL-3.0-or-later
// Beast's own functions, compiled once.
#include "core/live/net/loop_internal.h"

#include <boost/beast/src.hpp>

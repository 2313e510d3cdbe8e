#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan file leaves out and its reader fills in. Private: include it in .cpp files only.

#include "core/facts/plan/reader_context_internal.h"

namespace trainyard::detail {

/// Faults where it may not be: only some kinds of plan have no workload of their own.
void checkLeftOut(const Plan &plan, const Json &document, Context &context);

/// Ids of pools, and the network source of links between zones that it knows. `document` is what the plan was read
/// from.
void fillIn(Plan &plan, const Json &document);

} // namespace trainyard::detail

#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Collective operations by one name each, whoever wrote them down. Pure functions.

#include <string>
#include <string_view>

namespace trainyard::readers {

/// "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "send", "recv", "send_recv",
/// "gather", "scatter", "barrier" of "AllReduce", "nccl:all_reduce", "all_reduce_perf_mpi", "alltoall_perf",
/// "c10d::_allgather_base_", …; a name that is none of them comes back in lower case.
[[nodiscard]] std::string collectiveNamed(std::string_view name);
/// The operation that a file name or a command line tells of; empty where it tells none.
[[nodiscard]] std::string collectiveIn(std::string_view text);

} // namespace trainyard::readers

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/unit_bytes.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

double whole(double bytes)
{
    return bytes > 0 ? std::round(bytes) : 0;
}

const JobUnit &before(const JobSpec &job, std::size_t unit)
{
    return job.units[unit == 0 ? job.units.size() - 1 : unit - 1];
}

} // namespace

double UnitBytes::left(Keeps keeps) const
{
    if (keeps == Keeps::Nothing)
        return owed + output;
    return (keeps == Keeps::WeightsAndInput ? held : owed) + std::max(output, nextInput);
}

double UnitBytes::freed(Keeps keeps) const
{
    if (keeps == Keeps::Nothing)
        return owed + output;
    return (keeps == Keeps::WeightsAndInput ? 0 : owed) + std::max(output, nextInput) - nextInput;
}

UnitBytes bytesOf(const JobSpec &job, std::size_t unit, bool isContinued)
{
    const JobUnit &own = job.units[unit], &previous = before(job, unit);
    UnitBytes bytes;
    bytes.held = whole(isContinued ? previous.weights : own.weights);
    bytes.owed = isContinued ? std::max(whole(previous.writeBack), whole(own.writeBack)) : whole(own.writeBack);
    bytes.input = whole(own.input);
    bytes.output = whole(own.output);
    bytes.nextInput = whole(job.units[(unit + 1) % job.units.size()].input);
    const double after = std::max(bytes.output, bytes.nextInput);
    bytes.need = std::max({ whole(own.running) + bytes.held - whole(own.weights), bytes.present(), bytes.owed + after,
        bytes.held + after });
    return bytes;
}

bool mayContinue(const JobSpec &job, std::size_t unit, bool wasContinued)
{
    const JobUnit &own = job.units[unit], &previous = before(job, unit);
    if (previous.shard != own.shard || whole(previous.weights) < whole(own.weights))
        return false;
    if (!wasContinued)
        return true;
    // What lies there is known by the unit before alone, unless that has taken over something else.
    const std::size_t last = unit == 0 ? job.units.size() - 1 : unit - 1;
    const UnitBytes there = bytesOf(job, last, true);
    return there.held == whole(previous.weights) && there.owed == whole(previous.writeBack);
}

double largestNeed(const JobSpec &job)
{
    double most = 0;
    for (std::size_t u = 0; u < job.units.size(); ++u)
        most = std::max(most, bytesOf(job, u, false).need);
    return most;
}

} // namespace trainyard

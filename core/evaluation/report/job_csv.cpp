// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/job_csv.h"

#include "core/base/csv_text.h"
#include "core/evaluation/report/json_internal.h"

namespace trainyard {

namespace {

constexpr const char *kColumns[] = { "name", "state", "why", "start_s", "end_s", "deadline_s", "gpus", "ran_on",
    "technique", "shards", "work_s", "slowdown", "gpu_s", "loaded_bytes", "stored_bytes", "host_bytes", "usd",
    "measured" };

/// A list of numbers in one field: "0 1 3".
std::string fieldOf(const Json &value)
{
    if (value.is_null())
        return {};
    if (value.is_string())
        return csvField(value.get<std::string>());
    if (!value.is_array())
        return value.dump();
    std::string text;
    for (const Json &item : value)
        text += (text.empty() ? "" : " ") + item.dump();
    return text;
}

} // namespace

std::string jobsCsv(const Evaluation &evaluation)
{
    std::string text;
    for (const char *column : kColumns)
        text += (text.empty() ? "" : ",") + std::string(column);
    text += "\n";
    const Json jobs = jobsObject(evaluation);
    if (jobs.is_null())
        return text;
    for (const Json &job : jobs["per_job"]) {
        std::string line;
        for (const char *column : kColumns)
            line += (column == kColumns[0] ? "" : ",") + fieldOf(job[column]);
        text += line + "\n";
    }
    return text;
}

} // namespace trainyard

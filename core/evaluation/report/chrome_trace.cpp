// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/chrome_trace.h"
#include "core/base/version.h"

#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/job_text.h"
#include "core/evaluation/report/json_internal.h"

#include <array>
#include <cstdio>
#include <map>

namespace trainyard {

namespace {

std::string quoted(const std::string &text)
{
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Events one after the other, with the commas where they belong.
class EventList {
public:
    explicit EventList(std::ostream &out)
        : m_out(out)
    {
    }
    std::ostream &next()
    {
        m_out << (m_isFirst ? "\n" : ",\n");
        m_isFirst = false;
        return m_out;
    }

private:
    std::ostream &m_out;
    bool m_isFirst = true;
};

struct Place {
    int pid = 0, tid = 0;
};

/// The format counts microseconds; three decimals keep the nanoseconds.
std::string microseconds(Nanoseconds ns)
{
    char text[40];
    std::snprintf(
        text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000), static_cast<long long>(ns % 1000));
    return text;
}

std::vector<Place> writeNames(const Evaluation &evaluation, EventList &events)
{
    std::map<std::pair<int, int>, int> processes; // (pipeline class, datacenter) -> pid
    std::vector<Place> places;
    for (const Track &track : evaluation.timeline.tracks) {
        const auto [it, isNew] =
            processes.try_emplace({ track.pipelineClass, datacenterOf(evaluation, track) }, int(processes.size()) + 1);
        const Place place { it->second, int(places.size()) + 1 };
        if (isNew) {
            const std::string name = datacenterName(evaluation, track) + " \u00b7 " + pipelinesName(evaluation, track);
            events.next() << R"({"name":"process_name","ph":"M","pid":)" << place.pid << R"(,"args":{"name":)"
                          << quoted(name) << "}}";
            events.next() << R"({"name":"process_sort_index","ph":"M","pid":)" << place.pid
                          << R"(,"args":{"sort_index":)" << place.pid << "}}";
        }
        events.next() << R"({"name":"thread_name","ph":"M","pid":)" << place.pid << R"(,"tid":)" << place.tid
                      << R"(,"args":{"name":)" << quoted(trackName(evaluation, track)) << "}}";
        events.next() << R"({"name":"thread_sort_index","ph":"M","pid":)" << place.pid << R"(,"tid":)" << place.tid
                      << R"(,"args":{"sort_index":)" << place.tid << "}}";
        places.push_back(place);
    }
    return places;
}

void writeSpan(const Timeline &timeline, std::size_t i, Place place, std::ostream &out)
{
    const char *kind = toString(timeline.kind[i]);
    out << R"({"name":")" << kind;
    if (timeline.microBatch[i] >= 0)
        out << ' ' << timeline.microBatch[i];
    out << R"(","cat":")" << kind << R"(","ph":"X","ts":)" << microseconds(timeline.start[i]) << R"(,"dur":)"
        << microseconds(timeline.end[i] - timeline.start[i]) << R"(,"pid":)" << place.pid << R"(,"tid":)" << place.tid;
    if (timeline.microBatch[i] >= 0)
        out << R"(,"args":{"micro_batch":)" << timeline.microBatch[i] << R"(,"chunk":)" << timeline.chunk[i];
    if (timeline.kind[i] == WorkKind::ForwardBackward)
        out << R"(,"backward_micro_batch":)" << timeline.pairedMicroBatch[i] << R"(,"backward_chunk":)"
            << timeline.pairedChunk[i];
    if (timeline.microBatch[i] >= 0)
        out << '}';
    out << '}';
}

/// A job's work: its name, so that viewers that colour by name tell jobs apart, and a colour for those that read it.
void writeJobSpan(const Evaluation &evaluation, std::uint32_t i, Place place, std::ostream &out)
{
    // Names of colours that the format knows (catapult, color_scheme.html).
    static constexpr std::array kColors { "thread_state_iowait", "rail_response", "vsync_highlight_color",
        "thread_state_running", "cq_build_failed", "rail_idle", "thread_state_unknown", "rail_animation",
        "background_memory_dump", "startup", "cq_build_passed", "detailed_memory_dump" };
    const Timeline &timeline = evaluation.timeline;
    const JobMetrics &jobs = *evaluation.metrics.jobs;
    const int job = jobIndexOf(evaluation, i);
    const char *kind = toString(timeline.kind[i]);
    out << R"({"name":)" << quoted(job < 0 ? kind : jobs.perJob[std::size_t(job)].name) << R"(,"cat":")" << kind
        << R"(","ph":"X","ts":)" << microseconds(timeline.start[i]) << R"(,"dur":)"
        << microseconds(timeline.end[i] - timeline.start[i]) << R"(,"pid":)" << place.pid << R"(,"tid":)" << place.tid;
    if (job >= 0)
        out << R"(,"cname":")" << kColors[std::size_t(job) % kColors.size()] << '"';
    out << R"(,"args":{"work":")" << kind << '"';
    if (job >= 0)
        out << R"(,"job":)" << job;
    if (timeline.microBatch[i] >= 0)
        out << R"(,"minibatch":)" << std::int64_t { timeline.microBatch[i] } * jobs.minibatchesPerSpan << R"(,"shard":)"
            << timeline.chunk[i];
    if (const double bytes = timeline.bytesMoved(i); bytes > 0)
        out << R"(,"bytes":)" << std::int64_t(bytes);
    out << "}}";
}

void writeArrow(
    const Timeline &timeline, std::uint32_t from, std::uint32_t to, const std::vector<Place> &places, EventList &events)
{
    // An arrow leaves the slice that encloses its time, so just before the end.
    const Nanoseconds leaves = std::max(timeline.start[from], timeline.end[from] - 1);
    const Place a = places[timeline.trackOf[from]], b = places[timeline.trackOf[to]];
    events.next() << R"({"name":"wan","cat":"wan","ph":"s","id":)" << to << R"(,"ts":)" << microseconds(leaves)
                  << R"(,"pid":)" << a.pid << R"(,"tid":)" << a.tid << '}';
    events.next() << R"({"name":"wan","cat":"wan","ph":"f","bp":"e","id":)" << to << R"(,"ts":)"
                  << microseconds(timeline.start[to]) << R"(,"pid":)" << b.pid << R"(,"tid":)" << b.tid << '}';
}

} // namespace

void writeChromeTrace(const Evaluation &evaluation, std::ostream &out)
{
    const Timeline &timeline = evaluation.timeline;
    out << R"({"displayTimeUnit":"ms","otherData":{"generator":"trainyard )" << productVersion() << R"(","plan":)"
        << quoted(evaluation.plan->name) << R"(},"traceEvents":[)";
    EventList events(out);
    const std::vector<Place> places = writeNames(evaluation, events);
    for (std::size_t i = 0; i < timeline.spanCount(); ++i)
        if (evaluation.metrics.jobs)
            writeJobSpan(evaluation, std::uint32_t(i), places[timeline.trackOf[i]], events.next());
        else
            writeSpan(timeline, i, places[timeline.trackOf[i]], events.next());
    for (std::uint32_t i = 0; i < timeline.spanCount(); ++i) {
        const std::uint32_t cause = timeline.cause[i];
        const bool isWan = timeline.kind[i] == WorkKind::WanTransfer;
        if (cause != kNoSpan && timeline.trackOf[cause] != timeline.trackOf[i]
            && (isWan || timeline.kind[cause] == WorkKind::WanTransfer))
            writeArrow(timeline, cause, i, places, events);
    }
    out << "\n]}\n";
}

} // namespace trainyard

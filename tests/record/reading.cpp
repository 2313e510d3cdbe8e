// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/record/reading.h"

#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/plan/plan_io.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <tuple>

namespace trainyard::record {

namespace {

using nlohmann::json;

/// Between 1 and 2, and of no pattern: a sum in such weights tells which of equal values is where.
double weight(std::uint64_t index)
{
    return 1 + double(mixed(kEmptyHash, index) >> 11) * 0x1p-53;
}

// ---- Spans

struct Span {
    std::uint64_t work = 0; // hash of its name
    std::int64_t microBatch = 0, chunk = 0, pairedMicroBatch = 0, pairedChunk = 0;
    Nanoseconds start = 0, end = 0;
    double moved = 1;
    std::uint64_t origin = 0, cause = 0; // hashes of what identifies those spans; 0 where there is none
    std::uint32_t number = 0; // of the timeline, in no hash
    auto key() const
    {
        return std::tie(work, microBatch, chunk, pairedMicroBatch, pairedChunk, start, end, moved, origin, cause);
    }
};

using SpansByRow = std::map<std::string, std::vector<Span>>;

/// A timeline as spans that are known by what they do.
class TimelineReader {
public:
    explicit TimelineReader(const Timeline &timeline)
        : m_timeline(timeline)
    {
        for (int kind = 0; kind < kWorkKindCount; ++kind)
            m_works[std::size_t(kind)] = hashOf(toString(WorkKind(kind)));
        for (const Track &track : timeline.tracks) {
            m_rows.push_back(rowName(track));
            m_rowHashes.push_back(hashOf(m_rows.back()));
        }
    }

    /// Those that do the same one after the other in order of start.
    [[nodiscard]] SpansByRow spansByRow() const
    {
        SpansByRow rows;
        for (std::size_t t = 0; t < m_rows.size(); ++t) {
            const Track &track = m_timeline.tracks[t];
            for (std::uint32_t s = track.first; s < track.last; ++s)
                rows[m_rows[t]].push_back(span(s));
        }
        for (auto &[row, spans] : rows)
            std::ranges::sort(spans, {}, &Span::key);
        return rows;
    }

    /// Of the rows that show something.
    [[nodiscard]] std::uint64_t order() const
    {
        std::uint64_t order = kEmptyHash;
        for (std::size_t t = 0; t < m_rows.size(); ++t)
            if (m_timeline.tracks[t].first != m_timeline.tracks[t].last)
                order = mixed(order, m_rowHashes[t]);
        return order;
    }

    [[nodiscard]] std::string work(std::uint32_t s) const
    {
        return std::string(toString(m_timeline.kind[s])) + " of " + std::to_string(m_timeline.microBatch[s]) + "."
            + std::to_string(m_timeline.chunk[s]);
    }
    /// For people: what set its start.
    [[nodiscard]] std::string cause(std::uint32_t s) const
    {
        const std::uint32_t cause = m_timeline.cause[s];
        return cause == kNoSpan ? "nothing" : work(cause) + " on " + m_rows[m_timeline.trackOf[cause]];
    }

private:
    static std::string rowName(const Track &track)
    {
        std::string row = std::string(toString(track.stream)) + " of class " + std::to_string(track.pipelineClass)
            + " stage " + std::to_string(track.stage);
        if (track.toStage >= 0)
            row += " to " + std::to_string(track.toStage);
        if (track.wanLink >= 0)
            row += " over link " + std::to_string(track.wanLink);
        return row;
    }

    [[nodiscard]] std::uint64_t identity(const std::vector<std::uint32_t> &numbers, std::uint32_t s) const
    {
        const std::uint32_t other = s < numbers.size() ? numbers[s] : kNoSpan;
        if (other == kNoSpan)
            return 0;
        std::uint64_t hash =
            mixed(m_rowHashes[m_timeline.trackOf[other]], m_works[std::size_t(m_timeline.kind[other])]);
        for (const std::int64_t word : { std::int64_t(m_timeline.microBatch[other]),
                 std::int64_t(m_timeline.chunk[other]), m_timeline.start[other] })
            hash = mixed(hash, std::uint64_t(word));
        return hash;
    }

    [[nodiscard]] Span span(std::uint32_t s) const
    {
        const Timeline &t = m_timeline;
        Span span { m_works[std::size_t(t.kind[s])], t.microBatch[s], t.chunk[s] };
        if (t.kind[s] == WorkKind::ForwardBackward && !t.pairedMicroBatch.empty()) {
            span.pairedMicroBatch = t.pairedMicroBatch[s];
            span.pairedChunk = t.pairedChunk[s];
        }
        span.start = t.start[s];
        span.end = t.end[s];
        span.moved = s < t.moved.size() ? t.moved[s] : 1; // what came after the simulation moves nothing
        span.origin = identity(t.origin, s);
        span.cause = identity(t.cause, s);
        span.number = s;
        return span;
    }

    const Timeline &m_timeline;
    std::array<std::uint64_t, kWorkKindCount> m_works {};
    std::vector<std::string> m_rows; // by track
    std::vector<std::uint64_t> m_rowHashes;
};

RowRecord rowRecord(const std::vector<Span> &spans)
{
    RowRecord row;
    row.spans = spans.size();
    for (std::size_t s = 0; s < spans.size(); ++s) {
        const Span &span = spans[s];
        row.hash = mixed(row.hash, span.work);
        for (const std::int64_t word :
            { span.microBatch, span.chunk, span.pairedMicroBatch, span.pairedChunk, span.start, span.end })
            row.hash = mixed(row.hash, std::uint64_t(word));
        row.origins = mixed(row.origins, span.origin);
        row.causes = mixed(row.causes, span.cause);
        row.starts += std::uint64_t(span.start);
        row.ends += std::uint64_t(span.end);
        row.lastEnd = std::max(row.lastEnd, span.end);
        row.moved += span.moved * weight(s);
    }
    return row;
}

// ---- Memory curves

using Steps = std::vector<Evaluation::MemoryStep>;

/// The curve as a function of time: one step an instant, none that changes nothing.
Steps asFunction(const Steps &steps)
{
    Steps function;
    for (const auto &step : steps) {
        if (!function.empty() && function.back().time == step.time)
            function.back().bytes = step.bytes;
        else
            function.push_back(step);
    }
    const auto unchanged = std::ranges::unique(function, {}, &Evaluation::MemoryStep::bytes);
    function.erase(unchanged.begin(), unchanged.end());
    return function;
}

CurveRecord curveRecord(const Steps &steps)
{
    CurveRecord curve;
    for (const auto &step : steps)
        curve.figures[0] = std::max(curve.figures[0], double(step.bytes));
    const Steps function = asFunction(steps);
    curve.points = function.size();
    for (std::size_t i = 0; i < function.size(); ++i) {
        curve.times = mixed(curve.times, std::uint64_t(function[i].time));
        curve.bytes = mixed(curve.bytes, std::uint64_t(function[i].bytes));
        const double weighted = double(function[i].bytes) * weight(i);
        curve.figures[1] += weighted;
        curve.figures[2 + i * 8 / function.size()] += weighted;
    }
    return curve;
}

template <class Visit> void forEachCurve(const Evaluation &evaluation, Visit visit)
{
    for (std::size_t stage = 0; stage < evaluation.memoryCurves.size(); ++stage)
        visit("stage " + std::to_string(stage), evaluation.memoryCurves[stage]);
    for (std::size_t stage = 0; stage < evaluation.memoryCurvesKept.size(); ++stage)
        visit("kept, stage " + std::to_string(stage), evaluation.memoryCurvesKept[stage]);
}

// ---- Figures

/// Numbers become figures, all else texts, under their place in the object; what does not apply is left out.
void addJson(PlanRecord &record, const std::string &place, const json &value)
{
    if (value.is_structured()) {
        for (const auto &[key, child] : value.items())
            addJson(record, place.empty() ? key : place + "/" + key, child);
    } else if (value.is_number()) {
        record.figures[place] = value.get<double>();
    } else if (!value.is_null()) {
        record.texts[place] = value.is_string() ? value.get<std::string>() : value.dump();
    }
}

/// What `trainyard-cli evaluate` prints, without how long the evaluation took.
void addMetrics(PlanRecord &record, const std::string &place, const Evaluation &evaluation)
{
    json metrics = json::parse(metricsJson(evaluation));
    metrics["engine"].erase("simulate_ms");
    metrics["engine"].erase("evaluate_ms");
    addJson(record, place, metrics);
}

/// Figures that views and reports use and the JSON does not have.
void addUnprinted(PlanRecord &record, const Evaluation &evaluation)
{
    const auto add = [&](std::string place, double value) { record.figures["beside/" + std::move(place)] += value; };
    const Metrics &m = evaluation.metrics;
    for (std::size_t c = 0; c < m.computeShare.size(); ++c)
        for (std::size_t s = 0; s < m.computeShare[c].size(); ++s)
            add("compute share/" + std::to_string(c) + "/" + std::to_string(s), m.computeShare[c][s]);
    for (const StageMemory &stage : m.memory ? m.memory->perStage : std::vector<StageMemory> {}) {
        const std::string place = "memory/" + std::to_string(stage.stage) + "/";
        add(place + "activation per micro-batch", double(stage.activationPerMicroBatch));
        for (const auto &[part, bytes] : stage.parts)
            add(place + part, double(bytes));
    }
    for (const WanLinkUse &use : m.wanLinks)
        for (std::size_t direction = 0; direction < use.syncSeconds.size(); ++direction)
            add("sync/" + std::to_string(use.link) + "/" + std::to_string(direction), use.syncSeconds[direction]);
    if (m.offload) {
        add("offload/policy stage", m.offload->policyStage);
        add("offload/small share", m.offload->smallShare);
    }
    for (std::size_t c = 0; c < evaluation.offloadedSteps.size(); ++c) {
        for (std::size_t s = 0; s < evaluation.offloadedSteps[c].size(); ++s) {
            const OffloadedStep &step = evaluation.offloadedSteps[c][s];
            const std::string place = "optimizer step/" + std::to_string(c) + "/" + std::to_string(s) + "/";
            for (const auto &[name, seconds] : { std::pair { "time", step.time }, { "cpu", step.cpu },
                     { "gpu", step.gpu }, { "to host", step.toHost }, { "to gpu", step.toGpu }, { "write", step.write },
                     { "read", step.read }, { "states to gpu", step.statesToGpu } })
                add(place + name, seconds.value);
            for (const auto &[name, bytes] : { std::pair { "sent", step.sent }, { "fetched", step.fetched },
                     { "written", step.written }, { "read back", step.readBack } })
                add(place + name, bytes.value);
            add(place + "groups", step.groups);
            add(place + "stride", step.stride);
        }
    }
    record.texts["duration"] = std::to_string(evaluation.timeline.duration) + " ns";
}

/// Of an evaluation without spans, what searches go by.
void addQuick(PlanRecord &record, const Evaluation &quick)
{
    PlanRecord all;
    addMetrics(all, "", quick);
    for (const auto &[place, value] : all.figures)
        if (place == "iteration_time_s" || place == "hfu" || place.starts_with("breakdown_s/")
            || place.starts_with("memory/"))
            record.figures["without spans/" + place] = value;
}

} // namespace

PlanRecord recordOf(const std::string &name, const Evaluation &evaluation, const Evaluation *quick)
{
    PlanRecord record;
    record.name = name;
    record.plan = hashOf(formatPlan(*evaluation.plan));
    addMetrics(record, "", evaluation);
    addUnprinted(record, evaluation);
    if (quick)
        addQuick(record, *quick);
    const TimelineReader timeline(evaluation.timeline);
    record.order = timeline.order();
    for (const auto &[row, spans] : timeline.spansByRow())
        record.rows[row] = rowRecord(spans);
    forEachCurve(
        evaluation, [&](const std::string &curve, const Steps &steps) { record.curves[curve] = curveRecord(steps); });
    return record;
}

PlanRecord recordOf(const std::string &name, const PlanPtr &plan, EvaluationWorkspace &workspace, Coverage *coverage)
{
    const Catalogue &catalogue = builtinCatalogue();
    [[maybe_unused]] const auto slower = evaluate(slowedDown(*plan), catalogue, workspace, {}, Depth::Score);
    const auto evaluation = evaluate(plan, catalogue, workspace, {}, Depth::Spans);
    if (evaluation) {
        EvaluationWorkspace unused;
        const auto quick = evaluate(plan, catalogue, unused, {}, Depth::Score);
        if (coverage)
            coverage->add(**evaluation);
        return recordOf(name, **evaluation, quick ? quick->get() : nullptr);
    }
    PlanRecord record;
    record.name = name;
    record.plan = hashOf(formatPlan(*plan));
    for (std::size_t i = 0; i < evaluation.error().size(); ++i)
        record.texts["error/" + std::to_string(i)] = toString(evaluation.error()[i]);
    return record;
}

void writeText(std::ostream &out, const std::string &name, const Evaluation &evaluation, bool withCauses)
{
    const PlanRecord record = recordOf(name, evaluation);
    out.precision(std::numeric_limits<double>::max_digits10);
    out << name << '\n';
    for (const auto &[place, text] : record.texts)
        out << place << ": " << text << '\n';
    for (const auto &[place, value] : record.figures)
        out << place << " = " << value << '\n';
    const TimelineReader timeline(evaluation.timeline);
    for (const auto &[row, spans] : timeline.spansByRow()) {
        out << "spans: " << row << '\n';
        for (const Span &span : spans) {
            out << "  " << timeline.work(span.number);
            if (span.pairedMicroBatch || span.pairedChunk)
                out << " and " << span.pairedMicroBatch << '.' << span.pairedChunk;
            out << " from " << span.start << " to " << span.end;
            if (span.moved != 1)
                out << ", moved " << span.moved;
            if (withCauses)
                out << ", after " << timeline.cause(span.number);
            out << '\n';
        }
    }
    forEachCurve(evaluation, [&](const std::string &curve, const Steps &steps) {
        out << "memory: " << curve << '\n';
        for (const auto &step : asFunction(steps))
            out << "  " << step.time << ' ' << step.bytes << '\n';
    });
}

} // namespace trainyard::record

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/timeline_comparison.h"

#include "core/base/number_text.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/evaluate/track_names.h"
#include "core/evaluation/report/difference_svg.h"
#include "core/evaluation/report/gantt_svg.h"
#include "core/evaluation/report/html_tables_internal.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/report_parts.h"
#include "core/evaluation/report/report_style.h"
#include "core/facts/plan/plan_diff.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace trainyard {

namespace {

using markup::escaped;

constexpr std::size_t kMostRows = 40;
constexpr std::string_view kDifferenceStyle = "svg .more { fill: var(--warning); } svg .less { fill: var(--accent); }\n"
                                              "h3 + h3 { margin-top: 16px; } svg + h3 { margin-top: 16px; }\n";

std::string titled(const std::string &title, const std::string &content)
{
    return content.empty() ? content : "<div class=\"card\"><h3>" + escaped(title) + "</h3>" + content + "</div>\n";
}

/// "1.20k GPU·s", from GPU nanoseconds.
std::string gpuTimeText(double time)
{
    const double seconds = time * 1e-9;
    return (std::abs(seconds) < 1000 ? plainText(seconds) : countText(seconds)) + " GPU\u00b7s";
}

std::string signedText(double value, std::string (*text)(double))
{
    return value == 0 ? "" : (value > 0 ? "+" : "") + text(value);
}

std::string signedSeconds(Nanoseconds time)
{
    return signedText(toSeconds(time).value, secondsText);
}

/// A line of a table; the first cell is a text.
std::string tableLine(std::initializer_list<std::string> cells, const char *element = "td")
{
    std::string html = "<tr>";
    for (const std::string &one : cells)
        html += "<" + std::string(element) + ">" + escaped(one) + "</" + element + ">";
    return html + "</tr>";
}

std::string times(const std::string &name, GpuNanoseconds before, GpuNanoseconds after)
{
    return tableLine({ name, gpuTimeText(double(before)), gpuTimeText(double(after)),
        signedText(double(after - before), gpuTimeText),
        before == after ? "" : changeText(double(before), double(after)) });
}

std::string andMore(std::size_t all)
{
    return all > kMostRows ? "<p class=\"muted\">and " + escaped(wholeText(double(all - kMostRows))) + " more</p>" : "";
}

class Comparison {
public:
    Comparison(const NamedEvaluation &before, const NamedEvaluation &after, const TimeWindow &window)
        : m_before(before)
        , m_after(after)
        , m_window(window)
        , m_found(timelineDifference(*before.evaluation, *after.evaluation, window))
    {
        m_window.to =
            std::min(window.to, std::max(before.evaluation->timeline.duration, after.evaluation->timeline.duration));
    }

    [[nodiscard]] std::string page() const
    {
        const std::string title = escaped(m_before.name) + " and " + escaped(m_after.name);
        const std::vector<NamedEvaluation> both { m_before, m_after };
        std::string html = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title
            + " \u2013 Trainyard</title>\n<meta name=\"viewport\" content=\"width=device-width\"><style>"
            + std::string(reportStyle()) + (haveJobs(both) ? std::string(jobStyle()) : "")
            + std::string(kDifferenceStyle) + "</style></head>\n<body><main>\n<h1>" + title + "</h1>\n";
        for (const NamedEvaluation *plan : { &m_before, &m_after })
            html += "<p class=\"muted\">" + escaped(plan->name + ": " + reportSubtitle(*plan->evaluation)) + "</p>\n";
        html += titled("What differs from " + m_before.name, inWords()) + titled("Side by side", metricsTableHtml(both))
            + titled("Timelines under one axis", timelines()) + titled("GPU time by kind of work", byKind())
            + titled("GPU time by place, largest differences first", byPlace())
            + titled("Spans, largest differences first", spans());
        return html + "<p class=\"muted\">Written by Trainyard " + std::string(productVersion())
            + ". Every metric is defined in docs/metrics.md.</p>\n</main>\n</body></html>\n";
    }

private:
    [[nodiscard]] std::string inWords() const
    {
        std::string list;
        for (const std::string &sentence : describeDifferences(*m_before.evaluation->plan, *m_after.evaluation->plan))
            list += "<li>" + escaped(sentence) + "</li>";
        const std::string doubts = whyNotCompared(*m_before.evaluation, *m_after.evaluation);
        return (list.empty() ? "<p class=\"muted\">no difference</p>" : "<ul>" + list + "</ul>")
            + (doubts.empty() ? "" : "<p class=\"warning\">" + escaped(asSentence(doubts)) + "</p>");
    }

    [[nodiscard]] std::string timelines() const
    {
        std::string html;
        if (m_window.from > 0 || m_window.to < longest())
            html += "<p class=\"muted\">" + escaped(secondsText(toSeconds(m_window.from).value)) + " to "
                + escaped(secondsText(toSeconds(m_window.to).value)) + " of the iteration</p>";
        for (const NamedEvaluation *plan : { &m_before, &m_after }) {
            const Timeline &timeline = plan->evaluation->timeline;
            const std::string gantt = ganttSvg(*plan->evaluation, m_window);
            html += "<h3>" + escaped(plan->name + ", " + secondsText(toSeconds(timeline.duration).value)) + "</h3>"
                + (gantt.empty() ? "<p class=\"muted\">no timeline</p>" : gantt);
        }
        const std::string layer = differenceSvg(*m_before.evaluation, *m_after.evaluation, m_window);
        if (!layer.empty())
            html += "<h3>Difference</h3>" + layer + "<div class=\"legend\">" + legend("more", "busier in ", m_after)
                + legend("less", "busier in ", m_before) + "</div>";
        Timeline kinds; // of both
        for (const KindDifference &kind : gpuTimeByKind(m_found))
            kinds.kind.push_back(kind.kind);
        return html + workLegend(kinds);
    }

    static std::string legend(const char *look, const char *text, const NamedEvaluation &plan)
    {
        return "<span><svg viewBox=\"0 0 11 11\">" + markup::rect(0, 0, 11, 11, look) + "</svg>" + text
            + escaped(plan.name) + "</span>";
    }

    [[nodiscard]] Nanoseconds longest() const { return std::max(m_found.durationBefore, m_found.durationAfter); }

    [[nodiscard]] std::string headings(const std::string &first) const
    {
        return tableLine({ first, m_before.name, m_after.name, "difference", "" }, "th");
    }

    [[nodiscard]] std::string byKind() const
    {
        const std::vector<KindDifference> kinds = gpuTimeByKind(m_found);
        if (kinds.empty())
            return {};
        std::string html = "<table>" + headings("kind of work");
        KindDifference all;
        for (const KindDifference &kind : kinds) {
            if (kind.before != 0 || kind.after != 0)
                html += times(toString(kind.kind), kind.before, kind.after);
            all.before = stopped(all.before, kind.before);
            all.after = stopped(all.after, kind.after);
        }
        return html + times("all", all.before, all.after) + "</table>";
    }
    static GpuNanoseconds stopped(GpuNanoseconds sum, GpuNanoseconds more)
    {
        return sum > std::numeric_limits<GpuNanoseconds>::max() - more ? std::numeric_limits<GpuNanoseconds>::max()
                                                                       : sum + more;
    }

    [[nodiscard]] std::string byPlace() const
    {
        const std::string why =
            m_found.areMatched() ? "" : "<p>" + escaped(capitalised(m_found.whyNotMatched)) + ".</p>";
        const auto rows = largestGpuTimes(m_found, m_found.gpuTime.size());
        if (rows.empty())
            return why + "<p class=\"muted\">no difference</p>";
        std::string html = why + "<table>" + headings("place");
        for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i)
            html += times(rows[i].place + " \u00b7 " + toString(rows[i].stream) + " \u00b7 " + toString(rows[i].kind),
                rows[i].before, rows[i].after);
        return html + "</table>" + andMore(rows.size());
    }

    [[nodiscard]] std::string spans() const
    {
        if (!m_found.areMatched())
            return {};
        const auto counts = countsByChange(m_found);
        std::string html = "<p>";
        for (int change = 0; change < kSpanChangeCount; ++change)
            html += (change > 0 ? ", " : "") + escaped(wholeText(double(counts[std::size_t(change)]))) + " "
                + toString(SpanChange(change));
        html += "; each span counts once for every replica.</p>";
        if (m_found.spans.empty())
            return html;
        html += "<table>" + tableLine({ "span", "change", "length", "start" }, "th");
        for (const std::size_t i : largestSpans(m_found, kMostRows))
            html += spanLine(m_found.spans[i]);
        return html + "</table>" + andMore(m_found.spans.size());
    }

    [[nodiscard]] std::string spanLine(const SpanDifference &span) const
    {
        const bool isAfter = span.before == kNoSpan;
        const Evaluation &of = isAfter ? *m_after.evaluation : *m_before.evaluation;
        const std::uint32_t at = isAfter ? span.after : span.before;
        std::string name =
            trackName(of, of.timeline.tracks[of.timeline.trackOf[at]]) + " \u00b7 " + toString(of.timeline.kind[at]);
        if (of.metrics.jobs) {
            const std::uint32_t job = of.timeline.classOf(at).job;
            if (job < of.metrics.jobs->perJob.size())
                name += " \u00b7 " + of.metrics.jobs->perJob[job].name;
        } else if (of.timeline.microBatch[at] >= 0)
            name += " \u00b7 micro-batch " + std::to_string(of.timeline.microBatch[at] + 1);
        if (!of.metrics.jobs)
            name += span.replicas == 1 ? " \u00b7 pipeline " + std::to_string(span.firstReplica)
                                       : " \u00b7 pipelines " + std::to_string(span.firstReplica) + "\u2013"
                    + std::to_string(span.firstReplica + span.replicas - 1);
        return tableLine({ name, toString(span.change()), signedSeconds(span.longer), signedSeconds(span.shift) });
    }

    const NamedEvaluation &m_before, &m_after;
    TimeWindow m_window;
    TimelineDifference m_found;
};

} // namespace

std::string timelineComparison(const NamedEvaluation &before, const NamedEvaluation &after, const TimeWindow &window)
{
    return Comparison(before, after, window).page();
}

} // namespace trainyard

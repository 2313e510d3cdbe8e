// SPDX-License-Identifier: GPL-3.0-or-later
// What is proposed and what is not, and from which of the run's files it is.
#include "core/base/median.h"
#include "core/base/number_text.h"
#include "core/runs/calibrate/calibration_judge_internal.h"
#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

namespace trainyard {

namespace {

std::string dateOf(Moment zero)
{
    if (zero <= 0)
        return {};
    const std::time_t seconds = zero / 1'000'000'000;
    std::tm parts {};
    if (!gmtime_r(&seconds, &parts))
        return {};
    char text[32];
    return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts));
}

std::string withoutFolder(std::string file)
{
    file.erase(0, file.find_last_of('/') + 1);
    return file;
}

/// Numbers of its sources of that kind.
std::set<std::uint32_t> sourcesOf(const Recording &recording, LearntFrom what)
{
    std::set<std::uint32_t> sources;
    if (what == LearntFrom::Ranks || what == LearntFrom::Collectives)
        for (const RankRecording &rank : recording.ranks)
            sources.insert(rank.source);
    if (what == LearntFrom::Steps)
        for (const SampleSeries &series : recording.series)
            if (series.name == samples::kStepTime)
                sources.insert(series.source);
    for (std::uint32_t i = 0; i < recording.sources.size(); ++i) {
        const SourceKind kind = recording.sources[i].kind;
        const bool isOfNccl = kind >= SourceKind::NcclTests && kind <= SourceKind::FlightRecorder;
        const bool isOfTool = kind == SourceKind::Iperf3 || kind == SourceKind::Fio;
        if ((what == LearntFrom::Probe && isOfProbe(recording, i)) || (what == LearntFrom::Collectives && isOfNccl)
            || (what == LearntFrom::Tools && isOfTool))
            sources.insert(i);
    }
    std::erase_if(sources, [&](std::uint32_t i) { return i >= recording.sources.size(); });
    return sources;
}

} // namespace

std::string nameOf(const Recording &recording, std::optional<LearntFrom> what)
{
    std::string name = recording.name;
    if (name.empty() && !recording.sources.empty())
        name = recording.sources.front().file;
    name = withoutFolder(std::move(name));
    // A name of them all says nothing of one kind.
    const std::set<std::uint32_t> sources = what ? sourcesOf(recording, *what) : std::set<std::uint32_t>();
    if (!sources.empty() && sources.size() < recording.sources.size()) {
        name = withoutFolder(recording.sources[*sources.begin()].file);
        if (sources.size() > 1)
            name += " and " + std::to_string(sources.size() - 1) + " more";
    }
    const std::string date = dateOf(recording.zero);
    return date.empty() ? name : name + ", " + date;
}

std::string latencyText(double us, double error)
{
    return secondsText(us * 1e-6) + (error > 0 ? " (± " + secondsText(error * 1e-6) + ")" : "");
}

void setError(std::optional<double> &error, double value)
{
    if (value > 0 && std::isfinite(value))
        error = value;
}

std::string factorText(double factor, double error)
{
    return plainText(factor) + " × as long as modelled ("
        + (error > 0 ? "± " + plainText(error) : std::string("its error is not known"));
}

std::vector<int> CalibrationCase::likes() const
{
    std::map<std::pair<const PipelineClass *, int>, int> numbers;
    std::vector<int> likes;
    for (const RankRecording &rank : run.recording->ranks) {
        const PipelineClass *pipelines = classOf(workload, map, rank.rank);
        likes.push_back(-1);
        if (pipelines)
            likes.back() =
                numbers.try_emplace({ pipelines, map.placeOf(rank.rank).stage }, int(numbers.size())).first->second;
    }
    return likes;
}

const RecomputedShares &CalibrationCase::recomputedOf(const PipelineClass &pipelines, int stage) const
{
    static const RecomputedShares kAll;
    const auto c = std::size_t(&pipelines - workload.layout.classes.data());
    return c < recomputed.size() && std::size_t(stage) < recomputed[c].size() ? recomputed[c][std::size_t(stage)]
                                                                              : kAll;
}

std::optional<double> r2Of(const std::vector<double> &line, const std::vector<double> &measured)
{
    if (line.size() < 3)
        return std::nullopt;
    const auto [least, most] = std::ranges::minmax(line);
    if (!(most > least * (1 + 1e-6)))
        return std::nullopt;
    double mean = 0, left = 0, all = 0;
    for (const double value : measured)
        mean += value / double(measured.size());
    for (std::size_t i = 0; i < line.size(); ++i)
        left += std::pow(measured[i] - line[i], 2), all += std::pow(measured[i] - mean, 2);
    return all > 0 ? std::optional(1 - left / all) : std::nullopt;
}

void CalibrationCase::note(std::string sentence)
{
    if (std::ranges::find(proposal.notes, sentence) == proposal.notes.end())
        proposal.notes.push_back(std::move(sentence));
}

void CalibrationCase::learnFrom(LearntFrom what)
{
    recording = nameOf(*run.recording, what);
    isOfJob = what != LearntFrom::Probe;
}

/// Where all samples are nearly alike noise alone makes it a little less than 0.
constexpr double kLeastR2 = -3;

void CalibrationCase::propose(FittedFactor one, bool isMeasured)
{
    one.factor.recording = recording;
    if (isOfJob)
        one.factor.fittedOn = fittedOn;
    const double factor = one.factor.factor.value_or(1);
    if (!one.refused.empty()) {
        // by who fitted it
    } else if (!isMeasured && one.factor.samples < options.leastSamples)
        one.refused = "It stands on " + std::to_string(one.factor.samples) + " samples; at least "
            + std::to_string(options.leastSamples) + " are needed";
    else if (!(one.residual <= options.mostResidual))
        one.refused = "Half of its samples lie more than " + percentText(one.residual) + " off the fit; "
            + percentText(options.mostResidual) + " is the most";
    else if (2 * one.factor.standardError.value_or(0) >= one.factor.gbytesPerS.value_or(factor))
        one.refused = "Its standard error is "
            + percentText(*one.factor.standardError / one.factor.gbytesPerS.value_or(factor))
            + " of it: the samples hardly tell it from nothing";
    else if (one.factor.r2 && *one.factor.r2 < kLeastR2)
        one.refused = "Its samples lie more than twice as far from it as from their mean (R² "
            + plainText(*one.factor.r2) + "): no one factor makes the model's times of them";
    else if (std::string faster = beyondWire(*this, one.factor); !faster.empty())
        one.refused = std::move(faster);
    else if (!(factor < kMostFactor) || !(factor > 1 / kMostFactor))
        one.refused =
            "A factor of " + plainText(factor) + " is no calibration: the run does something else than the plan";
    else if (const auto readable = parseCalibrationFactor(formatCalibrationFactor(one.factor), one.id); !readable)
        one.refused = "No plan takes such a figure: " + readable.error().what
            + (readable.error().right.empty() ? "" : "; " + readable.error().right);
    const auto isOfSame = [&](const FittedFactor &other) {
        return other.id == one.id || areOfSame(other.factor, one.factor);
    };
    const bool isKnown = std::ranges::any_of(
        proposal.factors, [&](const FittedFactor &other) { return isOfSame(other) && other.refused.empty(); });
    if (isKnown && !one.refused.empty())
        return note(one.id + " of " + recording + " is not taken, another source tells it: " + one.refused);
    // What is told last is of the run rather than of what was timed alone, and of a tool that measures that one thing.
    std::erase_if(proposal.factors, isOfSame);
    proposal.factors.push_back(std::move(one));
}

} // namespace trainyard

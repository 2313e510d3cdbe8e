#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The recordings of samples/real-run with the settings of the link that they were made at, the plan at each, and what
// calibration learns at the one that is fitted. For the tests of docs/real-run.md.

#include "core/evaluation/evaluate/run.h"
#include "core/facts/plan/plan_io.h"
#include "core/runs/calibrate/calibrate.h"
#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/read_sources.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>

#include <algorithm>
#include <tuple>

namespace trainyard::test {

inline const QDir kFolder(QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/real-run"));
inline constexpr double kMostError = 0.10;
inline constexpr double kMessage = 4.0 * (32 * 64 * 128 + 8); // bytes: activations of a micro-batch and a header

/// One setting of the link, and the run that was recorded over it.
struct Setting {
    QString job; // as the page calls it
    double mbit = 0, rtt = 0;
    RunPtr run;
    [[nodiscard]] bool isOfTheJob() const { return job == QStringLiteral("1F1B"); }
    [[nodiscard]] bool isFitted() const { return isOfTheJob() && mbit == 100 && rtt == 20; }
};

/// By the first word of a recording's name; without one the job of the plan.
struct Variant {
    const char *prefix, *job, *key, *value;
};
inline constexpr Variant kVariants[] = { { "", "1F1B", "schedule", "1f1b" }, { "gpipe-", "GPipe", "schedule", "gpipe" },
    { "longer-", "1F1B, 16 micro-batches", "workload.global_batch", "1024" } };

inline const std::vector<Setting> &settings()
{
    static const std::vector<Setting> all = [] {
        std::vector<Setting> found;
        static const QRegularExpression name(
            QStringLiteral("^([a-z]+-)?([0-9.]+)mbit-([0-9.]+)ms\\.trainyard-recording$"));
        for (const QString &file : kFolder.entryList(QDir::Files)) {
            const auto match = name.match(file);
            for (const Variant &variant : kVariants)
                if (match.hasMatch() && match.captured(1) == QLatin1String(variant.prefix))
                    if (auto recording = readSource(kFolder.filePath(file).toStdString(), {}))
                        found.push_back({ QLatin1String(variant.job), match.captured(2).toDouble(),
                            match.captured(3).toDouble(), makeRun(*std::move(recording)) });
        }
        std::ranges::sort(found, {}, [](const Setting &one) { return std::tuple(one.job, one.mbit, one.rtt); });
        return found;
    }();
    return all;
}

inline Plan planOf(const Setting &setting)
{
    const std::string file = kFolder.filePath(QStringLiteral("two-datacenters.trainyard.json")).toStdString();
    Plan plan = readPlan(file).value_or(Plan {});
    for (const Variant &variant : kVariants)
        if (setting.job == QLatin1String(variant.job))
            plan = withKeySet(plan, variant.key, variant.value).value_or(Plan {});
    plan.cluster.wanLinks.at(0).nodePairGbps = setting.mbit / 1000;
    plan.cluster.wanLinks.at(0).rttMs = setting.rtt;
    return plan;
}

inline EvaluationPtr evaluated(const Plan &plan)
{
    EvaluationWorkspace workspace;
    const auto answer = run(
        std::make_shared<const Plan>(plan), Depth::Spans, { .catalogue = builtinCatalogue(), .workspace = workspace });
    return answer ? *answer : nullptr;
}

inline double secondsOf(const Plan &plan)
{
    const EvaluationPtr evaluation = evaluated(plan);
    return evaluation ? evaluation->metrics.iterationTime.value_or(0) : 0;
}

inline const CalibrationProposal &learnt()
{
    static const CalibrationProposal proposal = [] {
        const auto fitted = std::ranges::find_if(settings(), &Setting::isFitted);
        const EvaluationPtr evaluation = fitted != settings().end() ? evaluated(planOf(*fitted)) : nullptr;
        const auto made = evaluation ? calibrate(*evaluation, *fitted->run, builtinCatalogue())
                                     : Expected<CalibrationProposal>(std::unexpected(Error {}));
        return made.value_or(CalibrationProposal {});
    }();
    return proposal;
}

inline Plan calibrated(const Plan &plan)
{
    std::vector<std::string> ids;
    for (const FittedFactor &fitted : learnt().factors)
        if (fitted.refused.empty())
            ids.push_back(fitted.id);
    return withFactors(plan, learnt(), ids);
}

inline QString seconds(double value)
{
    return QString::number(value, 'f', 2) + QStringLiteral(" s");
}

inline QString page()
{
    QFile file(QStringLiteral(TRAINYARD_SOURCE_DIR "/docs/real-run.md"));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace trainyard::test

// SPDX-License-Identifier: GPL-3.0-or-later
// What timeline and curves cost the GUI thread at an edit, apart from the rest of the window: a new evaluation of a
// sample arrives, is laid out, painted and flushed. In the sizes that they have at 1440×900.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QVBoxLayout>

#include <benchmark/benchmark.h>

#include <array>

using namespace trainyard;

namespace {

EvaluationPtr evaluated(Plan plan)
{
    EvaluationWorkspace workspace;
    return *evaluate(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue(), workspace);
}

void newEvaluationOfTheRooms(benchmark::State &state, const char *sample, bool withTimeline, bool withCurves)
{
    Plan plan = *readPlan(std::string(TRAINYARD_SOURCE_DIR "/samples/") + sample + ".trainyard.json");
    const EvaluationPtr before = evaluated(plan);
    plan.workload.sequenceLength -= 64;
    const std::array evaluations { before, evaluated(plan) };
    QWidget page;
    auto *column = new QVBoxLayout(&page);
    auto *timeline = new TimelineView(&page);
    auto *curves = new CurvesPanel(&page);
    column->addWidget(timeline, 2);
    column->addWidget(curves, 1);
    timeline->setVisible(withTimeline);
    curves->setVisible(withCurves);
    page.resize(960, 460);
    page.show();
    std::size_t next = 0;
    for (auto _ : state) {
        next ^= 1;
        if (withTimeline)
            timeline->setEvaluation(evaluations[next]);
        if (withCurves)
            curves->setShown(shownOf(evaluations[next]));
        for (int i = 0; i < 3; ++i)
            QApplication::processEvents();
    }
}

BENCHMARK_CAPTURE(newEvaluationOfTheRooms, threeRegions, "llama-3-70b-three-regions", true, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(newEvaluationOfTheRooms, threeRegionsTimeline, "llama-3-70b-three-regions", true, false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(newEvaluationOfTheRooms, threeRegionsCurves, "llama-3-70b-three-regions", false, true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(newEvaluationOfTheRooms, sixteenThousandGpus, "llama-3.1-405b-16384-h100", true, true)
    ->Unit(benchmark::kMillisecond);

} // namespace

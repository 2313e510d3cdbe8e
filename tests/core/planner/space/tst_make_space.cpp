// SPDX-License-Identifier: GPL-3.0-or-later
// The axes of a space: values that change what they say and nothing else, the plan's own among them, and rules that
// leave out what cannot run.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/evaluate/run.h"
#include "core/facts/plan/key_list.h"
#include "core/planner/space/layer_partition.h"
#include "core/planner/space/rules.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>

using namespace trainyard;
using test::sharedSample;

namespace {

std::vector<std::string> samples()
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(TRAINYARD_SOURCE_DIR "/samples")) {
        const std::string name = entry.path().filename();
        if (name.ends_with(".trainyard.json"))
            names.push_back(name.substr(0, name.size() - std::string(".trainyard.json").size()));
    }
    std::ranges::sort(names);
    return names;
}

SearchSpace spaceOf(const PlanPtr &plan, const SpaceOptions &options = {})
{
    auto space = makeSpace(plan, builtinCatalogue(), options);
    if (!space)
        qFatal("%s", toString(space.error().front()).c_str());
    return std::move(*space);
}

bool hasValue(const SearchSpace &space, const char *id, const std::string &text)
{
    const int axis = space.axis(id);
    if (axis < 0)
        return false;
    const std::vector<AxisValue> &values = space.axes()[std::size_t(axis)].values;
    return std::ranges::find(values, text, &AxisValue::text) != values.end();
}

} // namespace

class MakeSpaceTest : public QObject {
    Q_OBJECT
private slots:
    void aModelThatIsNotUnderstoodIsNotSearched();
    void schedulesThatTheSoftwareLacksAreNamed()
    {
        Plan plan;
        plan.stack.name = "deepspeed"; // one forward, one backward alone
        plan.schedule = ScheduleKind::OneFOneB;
        const std::string said = schedulesLeftOut(plan);
        QVERIFY2(said.starts_with("Schedules that deepspeed does not have are not tried: "), said.c_str());
        QVERIFY2(said.find("GPipe") != std::string::npos && said.find(" more") != std::string::npos, said.c_str());
        plan.stack.name = "ideal";
        QVERIFY(schedulesLeftOut(plan).empty());
    }
    void pipelinesTakeTurnsOnTheWanWhereTheSoftwareHasAtlas()
    {
        const auto triesTurns = [](const char *stack) {
            Plan plan = test::samplePlan("llama-3-70b-three-regions");
            plan.stack.name = stack;
            const auto space = makeSpace(std::make_shared<const Plan>(plan), builtinCatalogue());
            if (!space)
                return false;
            for (const Axis &axis : space->axes())
                if (std::ranges::find(axis.keys, "wan.sharing") != axis.keys.end())
                    return true;
            return false;
        };
        QVERIFY(triesTurns("ideal"));
        QVERIFY(!triesTurns("megatron-core"));
        Plan plan = test::samplePlan("llama-3-70b-three-regions");
        plan.stack.name = "megatron-core";
        QVERIFY(schedulesLeftOut(plan).ends_with(
            "; nor are pipelines that take turns on the WAN, which the plan itself may ask for"));
    }
    void everySampleHasASpace_data()
    {
        QTest::addColumn<QString>("name");
        for (const std::string &name : samples())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    /// The base value leaves the plan as it is; every other changes it, its own keys alone, and no two alike.
    void everySampleHasASpace()
    {
        QFETCH(QString, name);
        const PlanPtr plan = sharedSample(name.toStdString());
        const SearchSpace space = spaceOf(plan);
        QVERIFY(!space.axes().empty());
        QCOMPARE(space.plan(space.baseCandidate()), plan);
        for (const Axis &axis : space.axes()) {
            if (axis.id == "recompute" || axis.id == "layers" || axis.id == "placement")
                continue; // whose values depend on the pipeline: rules leave out what comes to the same
            std::vector<Plan> plans;
            for (const AxisValue &value : axis.values) {
                Plan with = *plan;
                value.set(with);
                QVERIFY2(std::ranges::find(plans, with) == plans.end(), (axis.id + " " + value.text).c_str());
                QCOMPARE(with == *plan, plans.size() == axis.base);
                QVERIFY2(!changesTraining(*plan, with), (axis.id + " " + value.text).c_str());
                plans.push_back(std::move(with));
            }
            for (const std::string &key : axis.keys)
                QVERIFY2(std::ranges::find(planKeys(), key, &KeyRow::path) != planKeys().end(), key.c_str());
        }
        const SpaceRules rules(space, builtinCatalogue());
        QVERIFY(rules.whyNot(space.baseCandidate()) == nullptr);
        qInfo("%zu axes, %.3g combinations, %llu go together", space.axes().size(), double(space.size()),
            static_cast<unsigned long long>(rules.count(2'000'000)));
    }

    /// What the window calls a switch, a search does: where both make one plan, they have one name.
    void axesAndSwitchesOfAKeyHaveTheSameWords()
    {
        int same = 0;
        for (const std::string &name : samples()) {
            const PlanPtr plan = sharedSample(name);
            const std::vector<Alternative> switches = strategyAlternatives(*plan, builtinCatalogue());
            const SearchSpace space = spaceOf(plan, { .mayTrainOtherwise = true });
            for (const Axis &axis : space.axes())
                for (const AxisValue &value : axis.keys.size() > 1 ? std::vector<AxisValue> {} : axis.values) {
                    Plan with = *plan; // an axis of two keys has two switches
                    value.set(with);
                    const auto twin = std::ranges::find_if(switches,
                        [&](const Alternative &one) { return !one.isCurrent && one.plan && *one.plan == with; });
                    if (twin == switches.end() || with == *plan)
                        continue;
                    QVERIFY2(
                        twin->sentence.starts_with(axis.label + " "), (twin->sentence + ", " + axis.label).c_str());
                    ++same;
                }
        }
        QVERIFY2(same > 200, qPrintable(QString::number(same)));
    }

    void aFixedKeyIsNoAxis()
    {
        const PlanPtr plan = sharedSample("gpt3-175b-1024-a100");
        QVERIFY(spaceOf(plan).axis("tensor") >= 0);
        QVERIFY(spaceOf(plan, { .fixed = { "parallelism.tensor" } }).axis("tensor") < 0);
        QVERIFY(spaceOf(plan, { .fixed = { "parallelism.tensor" } }).axis("pipeline") >= 0);
        const SearchSpace shaped = spaceOf(plan, { .fixed = { "parallelism" } });
        for (const Axis &axis : shaped.axes())
            QVERIFY(!axis.keys.front().starts_with("parallelism."));
        QVERIFY(spaceOf(plan, { .fixed = { "memory.recompute_layers" } }).axis("recompute") < 0);
    }

    void anUnknownFixedKeyNamesTheNearest()
    {
        const auto space =
            makeSpace(sharedSample("gpt3-175b-1024-a100"), builtinCatalogue(), { .fixed = { "parallelism.tenser" } });
        QVERIFY(!space);
        QCOMPARE(space.error().front().code, ErrorCode::UnknownKey);
        QVERIFY(space.error().front().right.starts_with("perhaps parallelism.tensor: "));
    }

    void aStackOffersTheSchedulesThatItHas()
    {
        Plan plan = *sharedSample("gpt3-175b-1024-a100");
        QVERIFY(!hasValue(spaceOf(std::make_shared<Plan>(plan)), "schedule", "ZB-V"));
        plan.stack = { "fsdp" };
        const SearchSpace titan = spaceOf(std::make_shared<Plan>(plan));
        QVERIFY(titan.axis("schedule") >= 0);
        QCOMPARE(titan.axes()[std::size_t(titan.axis("schedule"))].values.size(), std::size_t(6));
        plan.stack = { "ideal" };
        const SearchSpace ideal = spaceOf(std::make_shared<Plan>(plan));
        QVERIFY(ideal.axes()[std::size_t(ideal.axis("schedule"))].values.size() > 15);
    }

    void whatAffectsConvergenceHasToBeAskedFor()
    {
        const PlanPtr plan = sharedSample("llama-3-70b-three-regions");
        QVERIFY(spaceOf(plan).axis("optimizer") < 0);
        const SearchSpace all = spaceOf(plan, { .mayTrainOtherwise = true });
        QVERIFY(all.axis("optimizer") >= 0);
        QVERIFY(all.axis("local_sgd") >= 0);
    }

    void thinnedAxesKeepTheirEndsAndThePlansOwn()
    {
        Plan plan = *sharedSample("gpt3-175b-1024-a100");
        plan.parallelism.pipeline = 24;
        const SearchSpace space = spaceOf(std::make_shared<Plan>(plan), { .mostValues = 5 });
        const Axis &pipeline = space.axes()[std::size_t(space.axis("pipeline"))];
        QVERIFY(pipeline.values.size() <= 6);
        QCOMPARE(pipeline.values.front().text, std::string("1"));
        QCOMPARE(pipeline.values.back().text, std::string("96"));
        QCOMPARE(pipeline.values[pipeline.base].text, std::string("24"));
    }

    /// Stages of a selection add up to the pipeline, whatever its length.
    void selectionsOfDatacentersPinAllStages()
    {
        const SearchSpace space = spaceOf(sharedSample("llama-3-70b-three-regions"));
        const Axis &placement = space.axes()[std::size_t(space.axis("placement"))];
        QVERIFY(hasValue(space, "placement", "Virginia alone"));
        const Axis &pipeline = space.axes()[std::size_t(space.axis("pipeline"))];
        const SpaceRules rules(space, builtinCatalogue());
        int pinned = 0;
        for (std::uint16_t p = 0; p < pipeline.values.size(); ++p) {
            for (std::uint16_t v = 0; v < placement.values.size(); ++v) {
                Candidate candidate = space.baseCandidate();
                candidate[std::size_t(space.axis("pipeline"))] = p;
                candidate[std::size_t(space.axis("placement"))] = v;
                const PlanPtr plan = space.plan(candidate);
                if (plan->placement.stages.empty() || rules.whyNot(candidate))
                    continue;
                ++pinned;
                int stages = 0;
                for (const StagePin &pin : plan->placement.stages) {
                    QVERIFY(pin.stages >= 1);
                    stages += pin.stages;
                }
                QCOMPARE(stages, plan->parallelism.pipeline);
            }
        }
        QVERIFY(pinned > 20);
    }

    /// The longest stage against every way to cut 12 layers into up to 5 stages.
    void theBalancedPartitionIsTheBestOfAll()
    {
        ModelSpec model = *builtinCatalogue().model("gpt-3-1.3b");
        model.layers = 12;
        for (const int vocabulary : { 50'000, 300'000, 2'000'000 }) {
            model.vocab = vocabulary;
            for (int stages = 1; stages <= 5; ++stages) {
                double best = 1e300;
                std::vector<int> layers(std::size_t(stages), 1);
                const std::function<void(int, int)> cut = [&](int stage, int left) {
                    if (stage == stages - 1) {
                        layers[std::size_t(stage)] = left;
                        best = std::min(best, longestStage(model, layers, 2048));
                        return;
                    }
                    for (int here = 1; here <= left - (stages - 1 - stage); ++here) {
                        layers[std::size_t(stage)] = here;
                        cut(stage + 1, left - here);
                    }
                };
                cut(0, model.layers);
                const std::vector<int> balanced = balancedLayers(model, stages, 2048);
                QCOMPARE(std::accumulate(balanced.begin(), balanced.end(), 0), model.layers);
                QVERIFY(std::abs(longestStage(model, balanced, 2048) / best - 1) < 1e-9);
            }
        }
    }

    /// Walking leaves out what whyNot() does, and counts every combination once.
    void walkingAndAskingAgree()
    {
        const SearchSpace space = spaceOf(sharedSample("mixed-lab"), { .fixed = { "memory" }, .mostValues = 4 });
        const SpaceRules rules(space, builtinCatalogue());
        std::vector<std::uint64_t> walked, asked;
        std::uint64_t left = 0;
        for (const SpaceRules::LeftOut &out : rules.forEach([&](std::uint64_t number, const Candidate &candidate) {
                 walked.push_back(number);
                 return space.number(candidate) == number;
             }))
            left += out.count;
        QCOMPARE(left + walked.size(), space.size());
        for (std::uint64_t i = 0; i < space.size(); ++i)
            if (!rules.whyNot(space.candidate(i)))
                asked.push_back(i);
        QCOMPARE(walked, asked);
    }
};

void MakeSpaceTest::aModelThatIsNotUnderstoodIsNotSearched()
{
    Plan plan = *sharedSample("gpt3-175b-1024-a100");
    plan.workload.inlineModel = *builtinCatalogue().model(plan.workload.model);
    plan.workload.inlineModel->id.clear();
    plan.workload.model.clear();
    QVERIFY(makeSpace(std::make_shared<const Plan>(plan), builtinCatalogue(), {}).has_value());
    plan.workload.inlineModel->doubts = { { "zebra_stripes", "no key that is known", -0.5, 1, false } };
    const auto space = makeSpace(std::make_shared<const Plan>(plan), builtinCatalogue(), {});
    QVERIFY(!space && toString(space.error().front()).find("zebra_stripes") != std::string::npos);
}

TRAINYARD_GUILESS_TEST(MakeSpaceTest)
#include "tst_make_space.moc"

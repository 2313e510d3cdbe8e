// SPDX-License-Identifier: GPL-3.0-or-later
// Every switch of every sample, with every other value: it moves something, is refused with an error, or says why it
// does nothing. What a reason states of other keys of the plan is so.
#include "core/evaluation/report/idle_changes.h"
#include "core/evaluation/report/outcome.h"
#include "tests/support/plan_switches.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <filesystem>
#include <regex>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const std::set<std::string> kSwitchSections { "workload", "parallelism", "schedule", "placement", "memory", "wan",
    "moe", "heterogeneity", "bubble_fill", "job_options", "job_scheduler", "profile", "layer_profiles" };

std::vector<std::string> sampleNames()
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(TRAINYARD_SOURCE_DIR "/samples"))
        if (const std::string name = entry.path().filename(); name.ends_with(".trainyard.json"))
            names.push_back(name.substr(0, name.find('.', name.find(".trainyard"))));
    std::ranges::sort(names);
    return names;
}

/// "… (memory.activation_offload is none)": the plan has that key so.
bool isTrueOf(const Plan &plan, const std::string &why, std::string &key)
{
    static const std::regex stated(R"(\(([a-z_]+\.[a-z_.]+) is ([a-z0-9-]+)\))");
    std::smatch found;
    if (!std::regex_search(why, found, stated))
        return true;
    key = found[1];
    const auto same = withKeySet(plan, key, found[2].str());
    return same && formatPlan(*same) == formatPlan(plan);
}

} // namespace

class IdleSwitchesTest : public QObject {
    Q_OBJECT
private slots:
    void everySwitchOfEverySampleMovesSomethingOrSaysWhyNot_data()
    {
        QTest::addColumn<std::string>("sample");
        QVERIFY(sampleNames().size() >= 16);
        for (const std::string &name : sampleNames())
            QTest::newRow(name.c_str()) << name;
    }

    void everySwitchOfEverySampleMovesSomethingOrSaysWhyNot()
    {
        QFETCH(std::string, sample);
        const PlanPtr plan = sharedSample(sample);
        EvaluationWorkspace workspace;
        const auto scored = [&](const PlanPtr &of) {
            return evaluate(of, builtinCatalogue(), workspace, {}, Depth::Score);
        };
        const EvaluationPtr now = scored(plan).value();
        const std::vector<PlanSwitch> switches = planSwitches(plan, kSwitchSections);
        QVERIFY2(switches.size() > 150, std::to_string(switches.size()).c_str());
        int idle = 0, moved = 0;
        std::string silent, untrue;
        for (const PlanSwitch &one : switches) {
            const auto other = scored(one.plan);
            if (!other) {
                QVERIFY2(!other.error().empty() && !other.error().front().what.empty(), one.name.c_str());
                continue;
            }
            if (!sameOutcome(*now, **other)) {
                ++moved;
                continue;
            }
            ++idle;
            const std::string why = whyIdle(*now, **other, builtinCatalogue());
            std::string key;
            if (why.empty())
                silent += "\n" + one.name;
            else if (!isTrueOf(*one.plan, why, key))
                untrue += "\n" + one.name + ": " + why;
        }
        QVERIFY2(silent.empty(), ("nobody says why these change nothing:" + silent).c_str());
        QVERIFY2(untrue.empty(), ("these reasons are not so:" + untrue).c_str());
        QVERIFY(idle > 0 && moved > 10);
    }
};

TRAINYARD_APPLESS_TEST(IdleSwitchesTest)
#include "tst_idle_switches.moc"

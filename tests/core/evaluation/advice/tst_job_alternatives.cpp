// SPDX-License-Identifier: GPL-3.0-or-later
// Alternatives of a plan with jobs: those of many models, and nothing that is about one model's iteration.
#include "core/evaluation/advice/alternatives.h"
#include "core/facts/plan/plan_diff.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace trainyard;

namespace {

Plan jobs()
{
    Plan plan;
    Job job;
    job.name = "one";
    job.model = "gpt-3-1.3b";
    plan.jobs = { job };
    return plan;
}

const Alternative *find(const std::vector<Alternative> &all, const std::string &id)
{
    const auto at = std::ranges::find(all, id, &Alternative::id);
    return at == all.end() ? nullptr : &*at;
}

} // namespace

class JobAlternativesTest : public QObject {
    Q_OBJECT

private slots:
    void aPlanWithoutJobsHasNoneAndOneWithJobsHasNoDegrees()
    {
        Plan plan;
        plan.workload.model = "gpt-3-1.3b";
        plan.workload.globalBatch = 8;
        QVERIFY(jobAlternatives(plan).empty());
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue()))
            QVERIFY(a.group != "job_scheduler" && a.group != "double_buffer");
        std::set<std::string> groups;
        for (const Alternative &a : strategyAlternatives(jobs(), builtinCatalogue()))
            groups.insert(a.group);
        QCOMPARE(groups,
            (std::set<std::string> { "job_scheduler", "spill", "double_buffer", "look_ahead", "remaining", "stack",
                "release", "bubble_fill" }));
    }

    void eachGroupHasOneCurrentValueAndItsPlanIsThePlan()
    {
        Plan plan = jobs();
        plan.jobOptions.doubleBuffer = false;
        for (const JobScheduler scheduler :
            { JobScheduler::ShardedLrtf, JobScheduler::Random, JobScheduler::Pipeline }) {
            plan.jobScheduler = scheduler;
            std::set<std::string> current;
            for (const Alternative &a : jobAlternatives(plan)) {
                if (!a.isCurrent)
                    continue;
                QVERIFY(current.insert(a.group).second);
                QVERIFY(*a.plan == plan);
            }
            QCOMPARE(current.size(), std::size_t(5));
        }
    }

    void everyValueChangesItsOwnKeyAlone()
    {
        Plan plan = jobs();
        plan.jobOptions.doubleBuffer = false;
        int changed = 0;
        for (const Alternative &a : jobAlternatives(plan)) {
            if (a.isCurrent || !a.plan)
                continue;
            Plan back = *a.plan;
            if (a.group == "job_scheduler")
                back.jobScheduler = plan.jobScheduler;
            else
                back.jobOptions = plan.jobOptions;
            QVERIFY(back == plan && *a.plan != plan);
            QVERIFY(!a.sentence.empty());
            ++changed;
        }
        // 7 schedulers that are modelled beside the current one; two switches and what remains
        QCOMPARE(changed, 7 + 4);
    }

    void whatCannotMatterIsBlockedWithAReason()
    {
        Plan plan = jobs(); // with double buffers
        QCOMPARE(find(jobAlternatives(plan), "look_ahead=false")->blockedBecause,
            std::string("a buffer is filled ahead, so double buffering implies it"));
        plan.jobScheduler = JobScheduler::Fifo;
        QCOMPARE(find(jobAlternatives(plan), "remaining=minibatches")->blockedBecause,
            std::string("only the longest remaining time counts it"));
        plan.jobScheduler = JobScheduler::TaskParallel;
        for (const char *id : { "double_buffer=false", "look_ahead=false", "spill=false", "remaining=minibatches" })
            QCOMPARE(find(jobAlternatives(plan), id)->blockedBecause,
                std::string("the scheduler gives whole GPUs to whole jobs"));
        QVERIFY(!find(jobAlternatives(plan), "job_scheduler=milp")->plan);
        QVERIFY(find(jobAlternatives(plan), "job_scheduler=shard-milp")->plan);
    }
};

TRAINYARD_APPLESS_TEST(JobAlternativesTest)
#include "tst_job_alternatives.moc"

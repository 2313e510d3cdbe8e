// SPDX-License-Identifier: GPL-3.0-or-later
// Two people on one session: whatever either has made of it since they read it is in what comes together.
#include "core/facts/plan/plan_io.h"
#include "core/facts/session/session_merge.h"
#include "tests/support/test_program.h"

#include "tests/core/facts/plan/random_plan.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace trainyard;

namespace {

PlanPtr plan(unsigned seed)
{
    return std::make_shared<const Plan>(*parsePlan(formatPlan(test::RandomPlan(seed).plan()), "p.json"));
}

Session ofThree()
{
    Session session;
    for (const unsigned seed : { 1U, 2U, 3U })
        session = withVariant(std::move(session), plan(seed), "Plan");
    session.baseline = "v1";
    return session;
}

bool hasPlan(const Session &session, const PlanPtr &plan)
{
    return std::ranges::any_of(session.variants, [&](const Variant &one) { return *one.plan == *plan; });
}

/// Some acts of somebody: plans changed, variants added and removed, notes, decisions.
Session worked(Session session, std::mt19937 &random, const std::string &who)
{
    const auto pick = [&](std::size_t below) {
        return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
    };
    const std::size_t acts = pick(4);
    for (std::size_t act = 0; act < acts; ++act) {
        const std::size_t at = session.variants.empty() ? 0 : pick(session.variants.size());
        switch (session.variants.empty() ? 1 : pick(6)) {
        case 0:
            session.variants[at].plan = plan(unsigned(random()));
            break;
        case 1:
            session = withVariant(std::move(session), plan(unsigned(random())), who);
            break;
        case 2:
            session = withoutVariant(std::move(session), std::string(session.variants[at].id));
            break;
        case 3:
            session.variants[at].note = who + " notes " + std::to_string(random());
            break;
        case 4:
            session.decisions.push_back({ "2026-11-30T09:0" + std::to_string(act) + ":00Z",
                who + std::to_string(random()), session.variants[at].id, {} });
            break;
        default:
            session.baseline = session.variants[at].id;
        }
    }
    return session;
}

} // namespace

class SessionMergeTest : public QObject {
    Q_OBJECT

private slots:
    void whoWorksAloneHasItAsItIs()
    {
        std::mt19937 random(4);
        for (int round = 0; round < 60; ++round) {
            const Session base = ofThree(), now = worked(base, random, "A");
            QVERIFY(mergeSessions(base, now, base).session == now);
            const Session taken = mergeSessions(base, base, now).session;
            QCOMPARE(taken.variants.size(), now.variants.size());
            for (const Variant &one : now.variants)
                QVERIFY(taken.variant(one.id) && *taken.variant(one.id) == one);
            QVERIFY(taken.decisions == now.decisions && taken.baseline == now.baseline);
        }
    }

    void nothingOfEitherIsLost()
    {
        std::mt19937 random(5);
        for (int round = 0; round < 300; ++round) {
            const Session base = ofThree();
            const Session mine = worked(base, random, "A"), theirs = worked(base, random, "B");
            const SessionMerge merge = mergeSessions(base, mine, theirs);
            for (const Session &one : { mine, theirs })
                for (const Variant &variant : one.variants) {
                    const Variant *before = base.variant(variant.id);
                    const bool isNew = !before || *before->plan != *variant.plan;
                    if (isNew)
                        QVERIFY2(hasPlan(merge.session, variant.plan), variant.name.c_str());
                }
            for (const Session &one : { mine, theirs })
                for (const Decision &decision : one.decisions)
                    QVERIFY(std::ranges::any_of(merge.session.decisions,
                        [&](const Decision &kept) { return kept.text == decision.text && kept.at == decision.at; }));
            std::vector<std::string> ids;
            for (const Variant &variant : merge.session.variants)
                ids.push_back(variant.id);
            std::ranges::sort(ids);
            QVERIFY(std::ranges::adjacent_find(ids) == ids.end());
            QVERIFY(merge.session.baseline.empty() || merge.session.variant(merge.session.baseline));
        }
    }

    void oneVariantThatBothChangedIsThereTwice()
    {
        const Session base = ofThree();
        Session mine = base, theirs = base;
        mine.variants[1].plan = plan(7);
        theirs.variants[1].plan = plan(8);
        theirs.decisions = { { "2026-11-30T10:00:00Z", "theirs it is", "v2", {} } };
        const SessionMerge merge = mergeSessions(base, mine, theirs);
        QCOMPARE(merge.session.variants.size(), 4U);
        QVERIFY(*merge.session.variant("v2")->plan == *plan(7));
        QCOMPARE(merge.keptTwice, (std::vector<std::string> { "Plan 2 (theirs)" }));
        const Variant &other = merge.session.variants[2];
        QVERIFY(*other.plan == *plan(8) && other.name == "Plan 2 (theirs)");
        QCOMPARE(merge.session.decisions.front().variant, other.id);
    }

    void whatOneChangedAndTheOtherRemovedStays()
    {
        const Session base = ofThree();
        Session changed = base;
        changed.variants[2].plan = plan(9);
        const Session removed = withoutVariant(base, "v3");
        QVERIFY(hasPlan(mergeSessions(base, changed, removed).session, plan(9)));
        QVERIFY(hasPlan(mergeSessions(base, removed, changed).session, plan(9)));
        QVERIFY(!mergeSessions(base, base, removed).session.variant("v3"));
    }

    void anotherFieldOfTheSameVariantIsNoConflict()
    {
        const Session base = ofThree();
        Session mine = base, theirs = base;
        mine.variants[0].plan = plan(11);
        theirs.variants[0].note = "the cheap one";
        const SessionMerge merge = mergeSessions(base, mine, theirs);
        QCOMPARE(merge.session.variants.size(), 3U);
        QVERIFY(merge.keptTwice.empty());
        QVERIFY(*merge.session.variants[0].plan == *plan(11));
        QCOMPARE(merge.session.variants[0].note, std::string("the cheap one"));
    }

    void whatTheOtherDidIsTold()
    {
        const Session base = ofThree();
        Session theirs = withVariant(base, plan(5), "Two regions");
        theirs.variants[0].plan = plan(6);
        theirs = withoutVariant(std::move(theirs), "v3");
        theirs.baseline = "v2";
        theirs.decisions = { { "2026-11-30T10:00:00Z", "B, because of the link", "v2", {} } };
        QCOMPARE(mergeSessions(base, base, theirs).theirs,
            (std::vector<std::string> { "changed the plan of “Plan”", "added “Two regions”", "removed “Plan 3”",
                "made “Plan 2” the baseline", "decided: B, because of the link" }));
    }
};

TRAINYARD_APPLESS_TEST(SessionMergeTest)
#include "tst_session_merge.moc"

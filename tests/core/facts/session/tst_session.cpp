// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions: what is saved comes back, what is wrong names its place, and no id is given twice.
#include "core/facts/plan/plan_io.h"
#include "core/facts/session/session_io.h"
#include "tests/support/test_program.h"

#include "tests/core/facts/plan/random_plan.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

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
    session.baseline = session.variants[1].id;
    session.variants[2].color = "#1f77b4";
    session.variants[2].note = "with \"quotes\", <b> and\nlines";
    session.decisions = { { "2026-11-30T09:41:00Z", "B, because the link is the limit", session.variants[1].id, {} } };
    session.view = R"({"page":"plan","zoom":[0.25,1.0]})";
    return session;
}

/// The place of the first error; "read" where there is none.
QString placeOf(const std::string &text)
{
    const auto session = parseSession(text, "s.trainyard-session");
    return session ? QStringLiteral("read") : QString::fromStdString(session.error().front().where);
}

std::string with(const std::string &variants, const std::string &others = {})
{
    return R"({"format": "trainyard.session", "version": 1, "variants": [)" + variants + "]" + others + "}";
}

const std::string kOne = R"({"id": "v1", "name": "A", "plan": {"format": "trainyard.plan", "version": 1}})";

} // namespace

class SessionTest : public QObject {
    Q_OBJECT

private slots:
    void whatIsSavedComesBack()
    {
        for (unsigned seed = 1; seed <= 20; ++seed) {
            Session session = ofThree();
            session.variants[0].plan = plan(seed);
            const auto read = parseSession(formatSession(session), "s");
            QVERIFY(read);
            QVERIFY(*read == session);
            QCOMPARE(formatSession(*read), formatSession(session));
        }
    }

    void keysThatThisVersionDoesNotKnowAreKept()
    {
        const std::string text =
            with(R"({"id": "v1", "name": "A", "rating": [1, 2], "plan": {"format": "trainyard.plan", "version": 1}})",
                R"(, "decisions": [{"at": "2026-11-30T09:41:00Z", "text": "A", "by": "x"}], "room": {"floor": 3})");
        const auto read = parseSession(text, "s");
        QVERIFY(read);
        const std::string written = formatSession(*read);
        for (const char *kept : { "\"rating\": [1, 2]", "\"by\": \"x\"", "\"floor\": 3" })
            QVERIFY2(written.find(kept) != std::string::npos, written.c_str());
    }

    void whatIsWrongNamesItsPlace_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("place");
        const auto row = [](const char *name, const std::string &text, const char *place) {
            QTest::newRow(name) << QString::fromStdString(text) << QStringLiteral("s.trainyard-session: ") + place;
        };
        row("a plan file", R"({"format": "trainyard.plan", "version": 1})", "/format");
        row("of a newer version", R"({"format": "trainyard.session", "version": 2})", "/version");
        row("variants that are no list", R"({"format": "trainyard.session", "version": 1, "variants": 3})",
            "/variants");
        row("a variant without plan", with(R"({"id": "v1", "name": "A"})"), "/variants/0");
        row("a variant without id", with(R"({"name": "A", "plan": {}})"), "/variants/0/id");
        row("an id twice", with(kOne + "," + kOne), "/variants/1/id");
        row("a fault in a plan", with(R"({"id": "v1", "plan": {"parallelism": {"tensor": -1}}})"),
            "/variants/0/plan/parallelism/tensor");
        row("a plan that is none", with(R"({"id": "v1", "plan": {"format": "x"}})"), "/variants/0/plan/format");
        row("a color", with(R"({"id": "v1", "color": "red", "plan": {}})"), "/variants/0/color");
        row("a baseline that is not there", with(kOne, R"(, "baseline": "v9")"), "/baseline");
        row("a decision that is a text", with(kOne, R"(, "decisions": ["A"])"), "/decisions/0");
        row("a view that is a list", with(kOne, R"(, "view": [])"), "/view");
    }

    void whatIsWrongNamesItsPlace()
    {
        QFETCH(QString, text);
        QFETCH(QString, place);
        QCOMPARE(placeOf(text.toStdString()), place);
    }

    void noIdIsGivenTwice()
    {
        Session session = ofThree();
        const std::string gone = session.variants.back().id;
        session.decisions.push_back({ "2026-11-30T10:00:00Z", "not C", gone, {} });
        session = withoutVariant(std::move(session), gone);
        session = withVariant(std::move(session), plan(4), "D");
        QVERIFY(session.variants.back().id != gone); // a decision still speaks of it
        QVERIFY(parseSession(formatSession(session), "s"));
    }

    void aBranchStandsBehindItsVariantUnderANameOfItsOwn()
    {
        const Session before = ofThree();
        const Session after = withVariant(before, plan(5), "Plan", before.variants[0].id);
        QCOMPARE(after.variants.size(), 4u);
        QCOMPARE(after.variants[1].name, std::string("Plan 4"));
        QVERIFY(after.variants[0] == before.variants[0] && after.variants[2] == before.variants[1]);
        QCOMPARE(after.baseline, before.baseline);
        QVERIFY(withoutVariant(after, after.variants[1].id) == before);
    }

    void aBaselineThatGoesLeavesNone()
    {
        const Session session = ofThree();
        QVERIFY(withoutVariant(session, session.baseline).baseline.empty());
    }

    /// A plan that names a file leads to it from wherever the session is saved.
    void filesThatPlansNameAreFoundFromAnotherFolder()
    {
        QTemporaryDir folder;
        const std::string base = folder.path().toStdString();
        QVERIFY(QDir(folder.path()).mkpath(QStringLiteral("meeting")));
        Plan named = *plan(1);
        named.baseDir = base;
        named.workload.model = "shapes/config.json";
        Session session = withVariant({}, std::make_shared<const Plan>(named), "A");
        const std::string path = base + "/meeting/m.trainyard-session";
        QVERIFY(writeSession(session, path));
        const auto read = readSession(path);
        QVERIFY(read);
        QCOMPARE(read->variants[0].plan->workload.model, std::string("../shapes/config.json"));
        QCOMPARE(read->variants[0].plan->baseDir, base + "/meeting");
    }
};

TRAINYARD_APPLESS_TEST(SessionTest)
#include "tst_session.moc"

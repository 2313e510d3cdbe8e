// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/solver/milp.h"
#include "tests/core/base/solver/programmes.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// A program of one line that takes the solver's place. The solution's name is its second last argument.
std::string pretender(const QTemporaryDir &where, const QByteArray &line)
{
    const QString path = where.filePath(QStringLiteral("pretender"));
    QFile file(path);
    file.remove();
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write("#!/bin/bash\nsolution=\"${@: -2:1}\"\n" + line + "\n");
    file.close();
    file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path.toStdString();
}

Milp twoThings()
{
    Milp problem;
    const auto x = problem.column(-2, 0, 1, true), y = problem.column(-3, 0, 1, true);
    problem.row({ { x, 1 }, { y, 1 } }, -Milp::kInfinity, 1);
    return problem;
}

} // namespace

class TestSolverLimits : public QObject {
    Q_OBJECT
    QTemporaryDir m_temporary;
private slots:
    void initTestCase() { qputenv("TMPDIR", m_temporary.path().toUtf8()); }
    void cleanup() // whatever happened, nothing is left
    {
        QCOMPARE(QDir(m_temporary.path()).entryList({ QStringLiteral("trainyard-solver*") }, QDir::AllEntries),
            QStringList {});
    }

    void nodesEndASearchAlikeEachTime()
    {
        const Milp problem = marketSplit(30);
        const auto first = solve(problem, { .seconds = 60, .nodes = 50 });
        const auto second = solve(problem, { .seconds = 60, .nodes = 50 });
        QVERIFY(first && second);
        QVERIFY(!first->isOptimal);
        QVERIFY(first->bound <= first->cost);
        QVERIFY(holds(problem, first->values));
        QCOMPARE(first->values, second->values);
        QCOMPARE(first->bound, second->bound);
    }

    void anAnswerIsNeverDearerThanItsStart()
    {
        const Milp problem = marketSplit(30);
        const auto good = solve(problem, { .seconds = 60, .nodes = 1000 });
        QVERIFY(good);
        const auto bare = solve(problem, { .seconds = 60, .nodes = 1 });
        const auto started = solve(problem, { .seconds = 60, .nodes = 1 }, good->values);
        QVERIFY(bare->cost > good->cost); // so the start has something to give
        QVERIFY(started->cost <= good->cost);
    }

    void aStartThatBreaksARowIsNotBelieved()
    {
        const auto answer = solve(twoThings(), {}, { 1, 1 });
        QVERIFY(answer && answer->isOptimal);
        QCOMPARE(answer->cost, -3.0);
        QCOMPARE(solve(twoThings(), {}, { 1 })->cost, -3.0); // nor one of another length
    }

    void aSearchIsStoppedFromOutside()
    {
        MilpLimits limits { .seconds = 250, .nodes = 1000000000 };
        const QByteArray solver = QByteArray::fromStdString(limits.program);
        limits.program = pretender(m_temporary, ": >\"$0.begun\"\nexec " + solver + " \"$@\"");
        const QString begun = QString::fromStdString(limits.program + ".begun");
        std::stop_source source;
        const std::jthread stopper([&](const std::stop_token &isOver) {
            while (!QFile::exists(begun) && !isOver.stop_requested())
                std::this_thread::yield();
            source.request_stop();
        });
        limits.stop = source.get_token();
        const auto answer = solve(marketSplit(40), limits);
        QCOMPARE(answer.error().code, ErrorCode::Cancelled);
        QCOMPARE(solve(twoThings(), limits).error().code, ErrorCode::Cancelled); // and none begins
    }

    /// Killed outright, a program can end nothing: the system ends its solver.
    void aSolverDiesWithTheProgramThatStartedIt()
    {
        const MilpLimits limits { .seconds = 250,
            .program = pretender(m_temporary, "echo $$ >\"$0.new\"\nmv \"$0.new\" \"$0.pid\"\nexec sleep 200") };
        const pid_t starter = ::fork();
        if (starter == 0) {
            static_cast<void>(solve(twoThings(), limits));
            ::_exit(0);
        }
        QFile pid(QString::fromStdString(limits.program + ".pid"));
        QTRY_VERIFY_WITH_TIMEOUT(pid.exists(), 60'000);
        QVERIFY(pid.open(QIODevice::ReadOnly));
        const QString state = QStringLiteral("/proc/%1/stat").arg(pid.readAll().trimmed().toInt());
        QVERIFY(QFile::exists(state));
        ::kill(starter, SIGKILL);
        ::waitpid(starter, nullptr, 0);
        const auto isGone = [&] { // whoever takes in orphans may be slow to reap it
            QFile file(state);
            return !file.open(QIODevice::ReadOnly) || file.readAll().contains(") Z ");
        };
        QTRY_VERIFY_WITH_TIMEOUT(isGone(), 60'000);
        for (const QString &left : QDir(m_temporary.path()).entryList({ QStringLiteral("trainyard-solver*") }))
            QVERIFY(QDir(m_temporary.filePath(left)).removeRecursively()); // which it could not
    }

    void aSolverThatIsNotThereIsNamedWithItsPackage()
    {
        for (const std::string program : { "/nowhere/cbc", "a-program-that-is-nowhere" }) {
            const auto answer = solve(twoThings(), { .program = program });
            QCOMPARE(answer.error().code, ErrorCode::CannotRead);
            QCOMPARE(answer.error().where, program);
            QVERIFY(answer.error().right.find("coinor-cbc") != std::string::npos);
        }
    }

    void aProgramThatWritesNoAnswerIsAnError()
    {
        for (const char *line : { "exit 0", "exit 3", "kill -9 $$" }) {
            const auto answer = solve(twoThings(), { .program = pretender(m_temporary, line) });
            QCOMPARE(answer.error().code, ErrorCode::CannotRead);
            QVERIFY(answer.error().what.find("broke down") != std::string::npos);
        }
    }

    void anAnswerThatIsNotOneIsAnError()
    {
        for (const char *text : { "", "hello", "Optimal", "Optimal - objective value -3\\n 0 x0 1",
                 "Optimal - objective value -3\\n 7 x7 1 0", "Optimal - objective value -3\\n 1 x0 1 0",
                 "Optimal - objective value -3\\n 1 x1 one 0", "Optimal - objective value -3\\n 1 x1 nan 0",
                 "Optimal - objective value -3\\n 1 x1 1 0 7", "Optimal - objective value -5\\n 0 x0 1 0\\n 1 x1 1 0",
                 "Optimal - objective value -1\\n 0 x0 0.5 0" }) {
            const QByteArray line = QByteArray("printf '") + text + "' >\"$solution\"";
            const auto answer = solve(twoThings(), { .program = pretender(m_temporary, line) });
            QVERIFY2(!answer, text);
            QCOMPARE(answer.error().code, ErrorCode::CannotRead);
        }
        const auto right = solve(twoThings(),
            { .program =
                    pretender(m_temporary, "printf 'Optimal - objective value -3\\n 1 x1 1 0\\n' >\"$solution\"") });
        QCOMPARE(right->cost, -3.0);
    }

    void aProgramThatDoesNotEndIsEnded()
    {
        MilpLimits limits { .seconds = 0.01, .program = pretender(m_temporary, "exec sleep 200") };
        auto other = std::async(std::launch::async, [&] { return solve(twoThings(), limits, { 1, 0 }); });
        const auto bare = solve(twoThings(), limits);
        const auto started = other.get();
        QVERIFY(bare && bare->values.empty() && !bare->isOptimal);
        QCOMPARE(started->cost, -2.0);
        QCOMPARE(started->bound, -Milp::kInfinity);
    }
};

TRAINYARD_APPLESS_TEST(TestSolverLimits)
#include "tst_solver_limits.moc"

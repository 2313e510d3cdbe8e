// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of the user's: what they print, how they end, that nothing of them stays behind.
#include "core/live/sources/sources.h"
#include "tests/core/live/sources/heard.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace trainyard;
using namespace trainyard::live;
using trainyard::live::tests::Heard;

namespace {

constexpr int kGenerous = 60'000; // ms

class Bench {
public:
    explicit Bench(const std::string &command)
    {
        Address address;
        address.type = SourceType::Command;
        address.path = command;
        loop.call([&] {
            source = makeCommand(loop, heard, address, {});
            source->start();
        });
    }
    ~Bench() { end(); }
    void end()
    {
        loop.call([&] { source.reset(); });
    }
    void call(const std::function<void(Source &)> &work)
    {
        loop.call([&] { work(*source); });
    }

    net::Loop loop;
    Heard heard;
    SourcePtr source;
};

std::string textOf(const std::string &path)
{
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

} // namespace

class TestCommand : public QObject {
    Q_OBJECT

private slots:
    void whatACommandPrintsIsReadAsItComes()
    {
        Bench bench("printf 'one\\n'; printf 'two\\n'; sleep 600");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("one\ntwo\n"), kGenerous);
        QVERIFY(bench.heard.state() == SourceState::Live);
        QCOMPARE(bench.heard.last().reason, std::string());
    }

    /// Not even one that a library of ours opened without saying that it is ours alone.
    void aCommandHasNoFileOrSocketOfOurs()
    {
        const int open = ::dup(STDIN_FILENO);
        QVERIFY(open > STDERR_FILENO);
        Bench bench("for n in 0 1 2 " + std::to_string(open)
            + "; do if [ -e /proc/$$/fd/$n ]; then echo $n; fi; done; echo end; sleep 600");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("0\n1\n2\nend\n"), kGenerous);
        ::close(open);
    }

    void oneThatEndsWellIsOver()
    {
        Bench bench("printf 'all of it'");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
        QCOMPARE(bench.heard.text(), std::string("all of it"));
        QCOMPARE(bench.heard.count(&Heard::m_closed), 1);
    }

    void oneThatFailsIsBegunAgainAndSaysWhy()
    {
        Bench bench("echo some words >&2; echo no route to node7 >&2; echo a line; exit 255");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::BackingOff, kGenerous);
        QVERIFY2(bench.heard.last().reason == "it ended with exit code 255: no route to node7",
            bench.heard.last().reason.c_str());
        QVERIFY(bench.heard.last().nextTry > bench.heard.last().since);
        QCOMPARE(bench.heard.last().tries, 1);
        // by itself, and at once where it is asked to
        bench.call([](Source &source) { source.retryNow(); });
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.count(&Heard::m_opened) >= 2, kGenerous);
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.count(&Heard::m_opened) >= 3, kGenerous);
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.text().starts_with("a line\na line\na line\n"), kGenerous);
    }

    void oneThatIsNotThereIsRefused()
    {
        Bench bench("trainyard-no-such-command --now");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Refused, kGenerous);
        QVERIFY2(bench.heard.last().reason.find("not found") != std::string::npos, bench.heard.last().reason.c_str());
    }

    void nothingOfItStaysBehind()
    {
        const QTemporaryDir folder;
        const std::string file = folder.filePath(QStringLiteral("pids")).toStdString();
        // the shell, a child, and one of those that do not heed TERM
        Bench bench("sleep 600 & echo $! > " + file + ".a; sh -c 'trap \"\" TERM; echo $$ > " + file
            + ".b; while :; do sleep 1; done' & echo ready; wait");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.text() == "ready\n" && textOf(file + ".b").ends_with('\n'), kGenerous);
        const pid_t child = std::stoi(textOf(file + ".a")), stubborn = std::stoi(textOf(file + ".b"));
        QVERIFY(::kill(child, 0) == 0 && ::kill(stubborn, 0) == 0);
        bench.end();
        const auto isGone = [](pid_t process) {
            std::ifstream status(
                "/proc/" + std::to_string(process) + "/stat"); // orphans may wait for init to reap them
            std::string text((std::istreambuf_iterator<char>(status)), {});
            return text.empty() || text.find(") Z ") != std::string::npos;
        };
        QTRY_VERIFY_WITH_TIMEOUT(isGone(child), kGenerous);
        QTRY_VERIFY_WITH_TIMEOUT(isGone(stubborn), kGenerous);
    }

    void whilePausedItRunsOnAndWhatItPrintsIsDropped()
    {
        const QTemporaryDir folder;
        const std::string go = folder.filePath(QStringLiteral("go")).toStdString();
        Bench bench("echo 1; while [ ! -e " + go + " ]; do sleep 0.05; done; echo 22; sleep 600");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n"), kGenerous);
        bench.call([](Source &source) { source.setPaused(true); });
        QVERIFY(bench.heard.state() == SourceState::Paused);
        std::ofstream(go) << "now";
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.skippedBytes(), 3, kGenerous);
        bench.call([](Source &source) { source.setPaused(false); });
        QVERIFY(bench.heard.state() == SourceState::Live);
    }

    void whatAnOldLogPrintsAtOnceIsNotLostWhereTheQueueIsFullForAMoment()
    {
        const QTemporaryDir folder;
        const std::string go = folder.filePath(QStringLiteral("go")).toStdString();
        Bench bench("while [ ! -e " + go
            + " ]; do sleep 0.05; done; i=0; while [ $i -lt 20000 ]; do echo a line with number $i; i=$((i + 1)); "
              "done");
        bench.heard.setFullTimes(5);
        std::ofstream(go) << "now";
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
        std::string all;
        for (int i = 0; i < 20'000; ++i)
            all += "a line with number " + std::to_string(i) + "\n";
        QVERIFY(bench.heard.text() == all);
    }

    void oneThatWaitsForInputGetsNone()
    {
        Bench bench("cat; printf over");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Ended, kGenerous);
        QCOMPARE(bench.heard.text(), std::string("over"));
    }
};

TRAINYARD_GUILESS_TEST(TestCommand)
#include "tst_command.moc"

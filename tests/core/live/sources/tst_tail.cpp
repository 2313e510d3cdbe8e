// SPDX-License-Identifier: GPL-3.0-or-later
// Logs that grow, are renamed, made shorter, torn, missing and forbidden: every byte once, in order.
#include "core/live/sources/sources.h"
#include "tests/core/live/sources/heard.h"
#include "tests/support/test_program.h"

#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace trainyard;
using namespace trainyard::live;
using trainyard::live::tests::Heard;

namespace {

constexpr int kGenerous = 60'000; // ms that a condition may take

void append(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

void put(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

class Bench {
public:
    explicit Bench(const std::string &path, const SourceSettings &settings = {})
    {
        Address address;
        address.type = SourceType::Tail;
        address.path = path;
        source = makeTail(loop, heard, address, settings);
        source->start();
    }
    ~Bench() { source->stop(); }

    net::Loop loop;
    Heard heard;
    SourcePtr source;
};

} // namespace

class TestTail : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        m_log = m_folder->filePath(QStringLiteral("train.log")).toStdString();
    }

    void whatIsThereAndWhatComesIsRead()
    {
        put(m_log, "one\n");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("one\n"), kGenerous);
        QVERIFY(bench.heard.state() == SourceState::Live);
        append(m_log, "tw");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("one\ntw"), kGenerous);
        append(m_log, "o\nthree\n");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("one\ntwo\nthree\n"), kGenerous);
        QCOMPARE(bench.heard.count(&Heard::m_opened), 1);
    }

    void aFileThatIsNotThereIsWaitedFor()
    {
        Bench bench(m_log);
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.last().reason.find("not there yet") != std::string::npos, kGenerous);
        QVERIFY(bench.heard.state() == SourceState::Connecting);
        put(m_log, "");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.last().reason.find("nothing was written") != std::string::npos, kGenerous);
        append(m_log, "now\n");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("now\n"), kGenerous);
    }

    void aRotatedLogIsReadToItsEndAndThenTheNewOne()
    {
        put(m_log, "1\n");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n"), kGenerous);
        // as logrotate does: renamed, written to by who has it open, made anew
        std::ofstream old(m_log, std::ios::app);
        std::filesystem::rename(m_log, m_log + ".1");
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.last().reason.find("taken away") != std::string::npos, kGenerous);
        old << "2\n" << std::flush;
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n2\n"), kGenerous);
        old << "3\n" << std::flush;
        put(m_log, "4\n");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n2\n3\n4\n"), kGenerous);
        QVERIFY(!bench.heard.last().notes.empty());
    }

    void halfALineBeforeARotationIsNoneOfTheNewFile()
    {
        put(m_log, "whole\nhalf");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("whole\nhalf"), kGenerous);
        put(m_log + ".new", "anew\n");
        std::filesystem::rename(m_log + ".new", m_log);
        // the decoder forgets the half and goes on behind the next line feed
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("whole\nhalf<skip>\nanew\n"), kGenerous);
        QCOMPARE(bench.heard.skippedBytes(), 0);
    }

    void aLogThatIsMadeShorterIsReadFromItsBeginning()
    {
        put(m_log, "a long first life\n");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("a long first life\n"), kGenerous);
        put(m_log, "anew\n"); // the same inode, as copytruncate leaves it
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("a long first life\nanew\n"), kGenerous);
        QVERIFY(bench.heard.last().notes.at(0).find("shorter") != std::string::npos);
    }

    void fromItsEndTheRestOfALineIsLeftOut()
    {
        put(m_log, "old\nhalf");
        SourceSettings settings;
        settings.fromEnd = true;
        Bench bench(m_log, settings);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("<skip>"), kGenerous);
        append(m_log, " of it\nnew\n");
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("<skip> of it\nnew\n"), kGenerous);
    }

    void whilePausedItIsNotReadAndThenGoesOnWhereItWas()
    {
        put(m_log, "1\n");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n"), kGenerous);
        bench.source->setPaused(true);
        QVERIFY(bench.heard.state() == SourceState::Paused);
        append(m_log, "2\n");
        bench.source->retryNow(); // asks nothing of who is paused
        Bench other(m_log); // when this one has looked, the first would have
        QTRY_COMPARE_WITH_TIMEOUT(other.heard.text(), std::string("1\n2\n"), kGenerous);
        QCOMPARE(bench.heard.text(), std::string("1\n"));
        bench.source->setPaused(false);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n2\n"), kGenerous);
        QVERIFY(bench.heard.state() == SourceState::Live);
    }

    void aLongLogIsReadInPiecesAndNothingIsLostWhereTheQueueIsFull()
    {
        std::string all;
        for (int i = 0; i < 200'000; ++i)
            all += "a line with number " + std::to_string(i) + "\n";
        put(m_log, all);
        net::Loop loop;
        Heard heard;
        heard.setFull(true);
        Address address;
        address.type = SourceType::Tail;
        address.path = m_log;
        const SourcePtr source = makeTail(loop, heard, address, {});
        source->start();
        QTRY_VERIFY_WITH_TIMEOUT(heard.count(&Heard::m_opened) == 1, kGenerous);
        heard.setFull(false);
        QTRY_COMPARE_WITH_TIMEOUT(heard.text().size(), all.size(), kGenerous);
        QVERIFY(heard.text() == all);
        QVERIFY(heard.count(&Heard::m_pieces) >= int(all.size() >> 18));
        source->stop();
    }

    void whatIsNoLogIsRefusedWithWhatWouldBeRight()
    {
        Bench folder(m_folder->path().toStdString());
        QTRY_VERIFY_WITH_TIMEOUT(folder.heard.state() == SourceState::Refused, kGenerous);
        QVERIFY(folder.heard.last().reason.find("is a folder") != std::string::npos);
        Bench device("/dev/null");
        QTRY_VERIFY_WITH_TIMEOUT(device.heard.state() == SourceState::Refused, kGenerous);
        QVERIFY(device.heard.last().reason.find("command:cat /dev/null") != std::string::npos);
    }

    void aForbiddenFileIsRefusedUntilItIsTriedAgain()
    {
        put(m_log, "secret\n");
        std::filesystem::permissions(m_log, std::filesystem::perms::none);
        const bool isRoot = ::geteuid() == 0; // who may read every file: the test goes on as nobody in between
        if (isRoot && ::seteuid(65534) != 0)
            QSKIP("Root cannot be someone else here");
        const auto rootAgain = qScopeGuard([isRoot] { return isRoot && ::seteuid(0) != 0 ? std::abort() : void(); });
        Bench bench(m_log);
        QTRY_VERIFY_WITH_TIMEOUT(bench.heard.state() == SourceState::Refused, kGenerous);
        QVERIFY(bench.heard.last().reason.find("Permission denied") != std::string::npos);
        QVERIFY(!isRoot || ::seteuid(0) == 0);
        std::filesystem::permissions(m_log, std::filesystem::perms::owner_all);
        bench.source->retryNow();
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("secret\n"), kGenerous);
    }

    void aDecoderThatRefusesEndsItUntilItIsTriedAgain()
    {
        put(m_log, "1\n");
        Bench bench(m_log);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n"), kGenerous);
        bench.source->refuse(1, { ErrorCode::BadSyntax, "", "it is compressed", "zcat" });
        QVERIFY(bench.heard.state() == SourceState::Refused);
        append(m_log, "2\n");
        bench.source->retryNow();
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.count(&Heard::m_opened), 2, kGenerous);
        QTRY_COMPARE_WITH_TIMEOUT(bench.heard.text(), std::string("1\n2\n"), kGenerous);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_log;
};

TRAINYARD_GUILESS_TEST(TestTail)
#include "tst_tail.moc"

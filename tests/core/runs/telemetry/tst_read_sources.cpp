// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/read_sources.h"
#include "tests/support/packed.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <stop_token>
#include <vector>

using namespace trainyard;
using test::gzipped;

class TestReadSources : public QObject {
    Q_OBJECT

private slots:
    void aCompressedFileIsUnpackedMemberByMember()
    {
        const std::string text = "one line\nand another\n";
        const auto file = openSource(written("a.gz", gzipped(text) + gzipped("and a member")), {});
        QVERIFY(file);
        QCOMPARE(std::string(file->text.text), text + "and a member");
        // Zeros of a tape's block and a stranger's bytes behind the last member, which gzip passes over too.
        for (const std::string &rest : { std::string(1, '\0'), std::string(512, '\0'), std::string("rest") }) {
            const auto padded = openSource(written("padded.gz", gzipped(text) + rest), {});
            QVERIFY(padded);
            QVERIFY(!padded->text.isTruncated);
            QCOMPARE(std::string(padded->text.text), text);
        }
        QVERIFY(!file->text.isTruncated);
        QCOMPARE(file->bytes.size(), file->text.text.size() + kSourcePadding);
    }

    void whatIsLeftOfATruncatedOneIsThere()
    {
        std::string text;
        for (int i = 0; i < 100000; ++i)
            text += std::to_string(i * 7919 % 100003) + " ";
        const std::string packed = gzipped(text);
        for (int percent = 1; percent < 100; ++percent) {
            const auto file =
                openSource(written("b.gz", packed.substr(0, packed.size() * std::size_t(percent) / 100)), {});
            QVERIFY(file);
            QVERIFY(file->text.isTruncated);
            QVERIFY(text.starts_with(file->text.text));
            QVERIFY(percent < 50 || file->text.text.size() > text.size() / 4);
        }
    }

    void aBombIsRefused()
    {
        const auto file = openSource(written("c.gz", gzipped(std::string(std::size_t(64) << 20, ' '))), {});
        QVERIFY(!file);
        QCOMPARE(file.error().code, ErrorCode::OutOfRange);
    }

    void whatNobodyKnowsIsRefusedAndSpoilsNothing()
    {
        const std::string path = written("d.txt", "nothing that a tool of the field has written\n");
        const auto recording = readSources({ path, m_folder.filePath("absent").toStdString() }, {}, 2);
        QVERIFY(recording);
        QCOMPARE(recording->sources.size(), std::size_t(2));
        QVERIFY(!recording->sources[0].refused.empty());
        QCOMPARE(recording->sources[0].kind, SourceKind::Unknown);
        QVERIFY(!recording->sources[1].refused.empty());
    }

    /// At the first megabyte of three: what was read until then is not told as if the file ended there.
    void aReaderThatIsStoppedTellsNothing_data()
    {
        QTest::addColumn<QByteArray>("begin");
        QTest::addColumn<QByteArray>("part");
        QTest::addColumn<QByteArray>("end");
        QTest::newRow("table") << QByteArray("timestamp, index, utilization.gpu [%]\n")
                               << QByteArray("2024/05/01 12:00:00.000, 0, 99 %\n") << QByteArray();
        QTest::newRow("log") << QByteArray()
                             << QByteArray("step:  4  loss:  7.62585  memory: 66.91GiB(37.51%)  tps: 10,050\n")
                             << QByteArray();
        QTest::newRow("XML") << QByteArray("<graphs version=\"1\">\n")
                             << QByteArray("<graph id=\"0\" pattern=\"4\" nchannels=\"2\"></graph>\n")
                             << QByteArray("</graphs>\n");
        QTest::newRow("JSON") << QByteArray()
                              << QByteArray("{\"start\":{\"version\":\"iperf 3.9\"},\"intervals\":[],\"end\":{\"sum_"
                                            "received\":{\"bytes\":8,\"seconds\":1,\"bits_per_second\":64}}}\n")
                              << QByteArray();
    }
    void aReaderThatIsStoppedTellsNothing()
    {
        QFETCH(QByteArray, begin);
        QFETCH(QByteArray, part);
        QFETCH(QByteArray, end);
        const auto times = (qsizetype(3) << 20) / part.size();
        const std::string path = written("long", (begin + part.repeated(times) + end).toStdString());
        const auto whole = readSource(path, {});
        QVERIFY(whole && whole->sources.front().refused.empty());
        std::stop_source stop;
        std::vector<double> shares;
        const auto recording = readSource(path, { .stop = stop.get_token(), .progress = [&](double share) {
                                                     shares.push_back(share);
                                                     stop.request_stop();
                                                 } });
        QVERIFY(!recording);
        QCOMPARE(recording.error().code, ErrorCode::Cancelled);
        QCOMPARE(shares.size(), std::size_t(1));
        QVERIFY(shares.front() > 0.3 && shares.front() < 0.4);
    }

    void aFolderIsWalkedInOrderWithoutHiddenAndUnfinishedFiles()
    {
        QTemporaryDir folder;
        for (const char *name : { "b.log", "a.log", ".hidden", "c.json.tmp" })
            std::ofstream(folder.filePath(name).toStdString()) << "x";
        const auto recording = readSources({ folder.path().toStdString() }, {}, 1);
        QVERIFY(recording);
        QCOMPARE(recording->sources.size(), std::size_t(2));
        QVERIFY(recording->sources[0].file.ends_with("a.log"));
    }

private:
    std::string written(const char *name, const std::string &bytes)
    {
        const std::string path = m_folder.filePath(QString::fromLatin1(name)).toStdString();
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    }

    QTemporaryDir m_folder;
};

TRAINYARD_APPLESS_TEST(TestReadSources)
#include "tst_read_sources.moc"

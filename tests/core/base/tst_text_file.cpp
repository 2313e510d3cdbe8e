// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/text_file.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace trainyard;

class TstTextFile : public QObject {
    Q_OBJECT

private slots:
    void aFileIsReadUpToItsBoundAndNotOneByteFurther()
    {
        write("exact", std::string(1000, 'x'));
        write("longer", std::string(1001, 'x'));
        QCOMPARE(readTextFile(file("exact"), "a text", { .mostBytes = 1000 })->size(), std::size_t(1000));
        const auto longer = readTextFile(file("longer"), "a text", { .mostBytes = 1000 });
        QVERIFY(!longer);
        QCOMPARE(longer.error().code, ErrorCode::CannotRead);
        QVERIFY2(longer.error().what.find("1000 bytes") != std::string::npos, longer.error().what.c_str());
    }

    void theBoundIsSaidInItsUnit()
    {
        // A file with a hole: 17 MiB that are nowhere on the disk.
        write("hole", "");
        QCOMPARE(::truncate(file("hole").c_str(), 17 << 20), 0);
        const auto hole = readTextFile(file("hole"), "a plan");
        QVERIFY(!hole);
        QCOMPARE(toString(hole.error()),
            file("hole") + ": is longer than 16 MiB, of which no more is read; expected a plan of at most 16 MiB");
    }

    void aDeviceThatNeverEndsIsReadUpToTheBound()
    {
        const auto zeros = readTextFile("/dev/zero", "a plan", { .kinds = FileKinds::StreamsToo });
        QVERIFY(!zeros);
        QVERIFY2(zeros.error().what.find("16 MiB") != std::string::npos, zeros.error().what.c_str());
    }

    void whereAStreamCannotBeReadItIsRefusedAtOnce()
    {
        QCOMPARE(::mkfifo(file("pipe").c_str(), 0600), 0);
        const auto pipe = readTextFile(file("pipe"), "a plan"); // nobody writes: this must not wait
        QVERIFY(!pipe);
        QVERIFY2(pipe.error().what.find("pipe") != std::string::npos, pipe.error().what.c_str());
        QVERIFY(readTextFile("/dev/zero", "a plan").error().what.find("device") != std::string::npos);
        QVERIFY(readTextFile("/", "a plan").error().what.find("folder") != std::string::npos);
    }

    void aPipeIsReadToItsEndWhereStreamsAreTaken()
    {
        QCOMPARE(::mkfifo(file("fed").c_str(), 0600), 0);
        const std::string content(300'000, 'y'); // more than a pipe holds at once
        std::thread writer([&] { std::ofstream(file("fed")) << content; });
        const auto read = readTextFile(file("fed"), "a plan", { .kinds = FileKinds::StreamsToo });
        writer.join();
        QVERIFY(read && *read == content);
    }

    void aFailureWhileReadingIsAnError()
    {
        // Regular by its kind, but its first byte cannot be read.
        const auto memory = readTextFile("/proc/self/mem", "a plan");
        QVERIFY(!memory);
        QCOMPARE(memory.error().code, ErrorCode::CannotRead);
        QVERIFY(readTextFile("/proc/self/status", "a text")->starts_with("Name:")); // its size is told as 0
        QVERIFY(!readTextFile(std::string("/proc/self/status\0.json", 23), "a text")); // a name ends where it ends
    }

private:
    [[nodiscard]] std::string file(const char *name) const
    {
        return m_folder.filePath(QLatin1String(name)).toStdString();
    }
    void write(const char *name, const std::string &content) const { std::ofstream(file(name)) << content; }

    QTemporaryDir m_folder;
};

TRAINYARD_APPLESS_TEST(TstTextFile)
#include "tst_text_file.moc"

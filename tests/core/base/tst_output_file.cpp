// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/output_file.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

using namespace trainyard;

namespace {

std::string content(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

Expected<void> put(const std::string &path, const std::string &text, OutputKinds kinds = OutputKinds::StreamsToo)
{
    return writeOutputFile(
        path, [&](std::ostream &out) { out << text; }, kinds);
}

// What the hook below saw of the file that is watched.
std::string watched; // its path; empty: none
off_t bytesOnDisk = -1;
bool wasNamedBefore = true;

mode_t modeOf(const std::string &path)
{
    struct stat status { };
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode : 0;
}

} // namespace

/// In place of the system's: asks it, and notes when it was asked.
extern "C" int fsync(int descriptor)
{
    struct stat status { };
    if (!watched.empty() && ::fstat(descriptor, &status) == 0) {
        bytesOnDisk = status.st_size;
        wasNamedBefore = ::access(watched.c_str(), F_OK) == 0;
    }
    return int(::syscall(SYS_fsync, descriptor));
}

class TstOutputFile : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void aNewFileHasThePermissionsOfANewFile()
    {
        const mode_t mask = ::umask(027);
        QVERIFY(put(file("new"), "text"));
        ::umask(mask);
        QCOMPARE(content(file("new")), std::string("text"));
        QCOMPARE(modeOf(file("new")) & 07777, mode_t(0640));
        QCOMPARE(names(), QStringList { QStringLiteral("new") });
    }

    void anOldFileKeepsItsPermissions()
    {
        std::ofstream(file("old")) << "before";
        QCOMPARE(::chmod(file("old").c_str(), 0604), 0);
        QVERIFY(put(file("old"), "after"));
        QCOMPARE(content(file("old")), std::string("after"));
        QCOMPARE(modeOf(file("old")) & 07777, mode_t(0604));
    }

    void aLinkStaysALinkAndItsTargetIsReplaced()
    {
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("elsewhere")));
        std::ofstream(file("elsewhere/target")) << "before";
        QCOMPARE(::symlink("elsewhere/target", file("link").c_str()), 0);
        QCOMPARE(::symlink("link", file("linkToLink").c_str()), 0);
        QVERIFY(put(file("linkToLink"), "after"));
        QVERIFY(S_ISLNK(modeOf(file("linkToLink"))) && S_ISLNK(modeOf(file("link"))));
        QCOMPARE(content(file("elsewhere/target")), std::string("after"));
        // One whose target is not there yet makes it, as a shell's redirection does.
        QCOMPARE(::symlink("elsewhere/made", file("dangling").c_str()), 0);
        QVERIFY(put(file("dangling"), "new"));
        QVERIFY(S_ISLNK(modeOf(file("dangling"))));
        QCOMPARE(content(file("elsewhere/made")), std::string("new"));
        QCOMPARE(::symlink("circle", file("circle").c_str()), 0);
        QVERIFY(!put(file("circle"), "never"));
    }

    void aPipeIsWrittenThrough()
    {
        QCOMPARE(::mkfifo(file("pipe").c_str(), 0600), 0);
        std::string read;
        std::thread reader([&] { read = content(file("pipe")); });
        const std::string text(300'000, 'z');
        const auto written = put(file("pipe"), text);
        reader.join();
        QVERIFY(written);
        QCOMPARE(read, text);
        QVERIFY(S_ISFIFO(modeOf(file("pipe"))));
        const auto refused = put(file("pipe"), text, OutputKinds::RegularOnly); // nobody reads: this must not wait
        QVERIFY(!refused && refused.error().what.find("pipe") != std::string::npos);
    }

    void aDeviceIsWrittenThrough()
    {
        // By links, so that a writer that replaces what it should not replaces only those.
        QVERIFY(::symlink("/dev/null", file("null").c_str()) == 0 && ::symlink("/dev/full", file("full").c_str()) == 0);
        QVERIFY(put(file("null"), "nothing"));
        QVERIFY(S_ISLNK(modeOf(file("null"))) && S_ISCHR(modeOf("/dev/null")));
        const auto full = put(file("full"), "too much");
        QVERIFY(!full);
        QCOMPARE(full.error().code, ErrorCode::NoRoom);
        QVERIFY2(full.error().what.find("space") != std::string::npos, full.error().what.c_str());
    }

    void anOpenDescriptorIsWrittenOnWhereItStands()
    {
        const int opened = ::open(file("open").c_str(), O_CREAT | O_RDWR, 0600);
        QVERIFY(opened >= 0 && ::write(opened, "head ", 5) == 5);
        QVERIFY(put("/dev/fd/" + std::to_string(opened), "body"));
        ::close(opened);
        QCOMPARE(content(file("open")), std::string("head body"));
    }

    void whatFailsLeavesTheOldFileAndNothingBesideIt()
    {
        std::ofstream(file("old")) << "before";
        const auto failed = writeOutputFile(file("old"), [](std::ostream &out) {
            out << "half";
            out.setstate(std::ios::failbit);
        });
        QVERIFY(!failed);
        try {
            (void)writeOutputFile(file("old"), [](std::ostream &out) {
                out << "half";
                throw std::runtime_error("in the middle");
            });
            QFAIL("the exception is the caller's");
        } catch (const std::runtime_error &) {
        }
        QCOMPARE(content(file("old")), std::string("before"));
        QCOMPARE(names(), QStringList { QStringLiteral("old") });
        QVERIFY(!put(file("absent/x"), "text"));
        QVERIFY(!put(m_folder->path().toStdString(), "text"));
        QVERIFY(!put(file("old") + "/", "text"));
    }

    /// Else a machine that fails may keep the new name of no content.
    void allBytesAreOnTheDiskBeforeTheFileHasItsName()
    {
        watched = file("whole");
        QVERIFY(put(watched, std::string(100'000, 'x')));
        watched.clear();
        QCOMPARE(bytesOnDisk, off_t(100'000));
        QVERIFY(!wasNamedBefore);
    }

    void whileAFileIsWrittenNothingIsSeenOfIt()
    {
        QVERIFY(writeOutputFile(file("slow"), [&](std::ostream &out) {
            out << std::string(1 << 20, 'x');
            out.flush();
            // A kill at this moment leaves nothing, where the file system has files without names.
            QVERIFY(!QFile::exists(QString::fromStdString(file("slow"))));
            removeUnfinishedOutputs();
            QCOMPARE(names(), QStringList());
        }));
        QCOMPARE(content(file("slow")).size(), std::size_t(1 << 20));
    }

private:
    [[nodiscard]] std::string file(const char *name) const
    {
        return m_folder->filePath(QLatin1String(name)).toStdString();
    }
    [[nodiscard]] QStringList names() const { return QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden); }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TstOutputFile)
#include "tst_output_file.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// What a journal holds is compared with the list of what it was told, kept here.
#include "models/journal.h"
#include "models/journal_line.h"
#include "models/left_work.h"
#include "tests/models/journal/journalled_plans.h"
#include "tests/support/test_program.h"

#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <sys/resource.h>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Work as a document has it: plans keep their addresses.
class Editing {
public:
    explicit Editing(int start) { m_work.start = numbered(start); }
    void edit(int number)
    {
        m_work.edits.resize(std::size_t(m_work.done));
        m_work.edits.push_back({ QStringLiteral("Edit %1").arg(number), numbered(number) });
        forgetSaved(m_work.done++);
        m_work.isClean = false;
    }
    /// as a slider that goes on
    void merge(int number) { m_work.edits.back() = { QStringLiteral("Edit %1").arg(number), numbered(number) }; }
    /// a slider that came back to where it began
    void vanish()
    {
        m_work.edits.pop_back();
        forgetSaved(--m_work.done);
    }
    void goTo(int done)
    {
        m_work.done = done;
        m_work.isClean = done == m_work.saved;
    }
    void save(const QString &path)
    {
        m_work.saved = m_work.done;
        m_work.isClean = true;
        m_work.path = path;
        m_work.known = path.toUtf8();
    }
    [[nodiscard]] const UnsavedWork &work() const { return m_work; }

private:
    /// Where it was saved behind so many edits.
    void forgetSaved(int edits)
    {
        if (m_work.saved > edits)
            m_work.saved = -1;
    }

    UnsavedWork m_work;
};

/// For as long as it lives no file of this program grows longer, as on a full disk.
class FullDisk {
public:
    explicit FullDisk(qint64 bytes)
    {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        struct rlimit full = m_before;
        full.rlim_cur = rlim_t(bytes);
        ::setrlimit(RLIMIT_FSIZE, &full);
        m_handler = std::signal(SIGXFSZ, SIG_IGN);
    }
    ~FullDisk()
    {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }
    FullDisk(const FullDisk &) = delete;
    FullDisk &operator=(const FullDisk &) = delete;

private:
    struct rlimit m_before { };
    void (*m_handler)(int) = nullptr;
};

} // namespace

class TestJournal : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void eachKindOfChangeIsReadBackAsItWasTold()
    {
        Journal journal(file());
        Editing editing(1);
        const auto check = [&] {
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            QCOMPARE(told(kept()), told(numbersOf(editing.work())));
        };
        editing.edit(2), check();
        editing.edit(3), check();
        editing.merge(4), check();
        editing.goTo(1), check();
        editing.goTo(0), check();
        editing.goTo(2), check();
        editing.save(QStringLiteral("/plans/a.trainyard.json")), check();
        QCOMPARE(works().front().work.path, QStringLiteral("/plans/a.trainyard.json"));
        QCOMPARE(works().front().work.known, QByteArray("/plans/a.trainyard.json"));
        editing.edit(5), check();
        editing.goTo(1), check();
        editing.edit(6), check(); // cuts what was undone
        editing.vanish(), check();
        QCOMPARE(works().front().work.edits.front().text, QStringLiteral("Edit 2"));
    }
    void anEditAddsALineAndWritesNothingElse()
    {
        Journal journal(file());
        Editing editing(1);
        editing.edit(2);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        const QByteArray before = bytesOf(file());
        editing.edit(3);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        const QByteArray after = bytesOf(file());
        QVERIFY(after.startsWith(before));
        QCOMPARE(after.count('\n'), before.count('\n') + 1);
        QVERIFY(journal.keep({ { {}, editing.work() } })); // nothing new
        QCOMPARE(bytesOf(file()), after);
    }
    void plansComeBackWithEveryLetter()
    {
        Plan odd = *numbered(7);
        odd.name = "two\nlines,\n   a\ttab, “quotes” and \\";
        odd.baseDir = "/folder of/plans";
        Editing editing(1);
        editing.edit(2);
        UnsavedWork work = editing.work();
        work.edits.push_back({ QStringLiteral("tab\t, line\n, “…”"), std::make_shared<const Plan>(odd) });
        work.done = 2;
        Journal journal(file());
        QVERIFY(journal.keep({ { {}, work } }));
        QCOMPARE(*works().front().work.edits[1].plan, odd);
        QCOMPARE(works().front().work.edits[1].text, work.edits[1].text);
        QCOMPARE(*works().front().work.start, *numbered(1));
    }
    /// The file as it was cut off after each of its bytes: what is read is what had been told by then.
    void aTornLineLosesThatLineAlone()
    {
        Journal journal(file());
        Editing editing(1);
        std::vector<std::pair<qsizetype, QByteArray>> toldUpTo; // bytes of the file, and the work
        const auto keep = [&] {
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            toldUpTo.emplace_back(bytesOf(file()).size(), told(numbersOf(editing.work())));
        };
        editing.edit(2), keep();
        editing.edit(3), keep();
        editing.merge(4), keep();
        editing.goTo(1), keep();
        editing.save(QStringLiteral("/a")), keep();
        editing.edit(5), keep();
        const QByteArray whole = bytesOf(file());
        for (qsizetype bytes = 0; bytes <= whole.size(); ++bytes) {
            put(torn(), whole.first(bytes));
            const JournalContent content = readJournal(torn());
            QVERIFY(content.state == JournalContent::State::Whole);
            QByteArray expected; // a line is whole without its end
            for (const auto &[size, work] : toldUpTo)
                if (bytes >= size - 1)
                    expected = work;
            const QByteArray read = content.works.empty() ? QByteArray() : told(numbersOf(content.works.front().work));
            // Before the first edit the file is not there under its name; only its plan can be in it.
            QVERIFY2(read == expected || (expected.isEmpty() && read.startsWith("1 done 0")),
                qPrintable(QStringLiteral("%1 bytes: %2, not %3").arg(bytes).arg(read, expected)));
        }
    }
    void whatFollowsDamageIsToldAndWhatStandsBeforeItIsRead()
    {
        Journal journal(file());
        Editing editing(1);
        std::vector<QByteArray> states;
        std::vector<qsizetype> sizes;
        for (int number = 2; number < 6; ++number) {
            editing.edit(number);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            states.push_back(told(numbersOf(editing.work())));
            sizes.push_back(bytesOf(file()).size());
        }
        const QByteArray whole = bytesOf(file());
        for (qsizetype at = sizes[1]; at < sizes[2]; ++at) { // the third edit's line, a byte each time
            QByteArray damaged = whole;
            damaged[at] = char(damaged[at] ^ 1);
            put(torn(), damaged);
            const JournalContent content = readJournal(torn());
            QVERIFY(content.state == JournalContent::State::Damaged);
            QVERIFY(content.works.front().isDamaged);
            QCOMPARE(told(numbersOf(content.works.front().work)), states[1]);
        }
        put(torn(), whole.first(sizes[1]) + QByteArray(4096, '\0')); // what a file system may leave after a power cut
        QVERIFY(readJournal(torn()).state == JournalContent::State::Whole);
        QCOMPARE(told(numbersOf(readJournal(torn()).works.front().work)), states[1]);
    }
    void aJournalDamagedFromItsStartIsToldOnceAndKept()
    {
        {
            Journal journal(file());
            Editing editing(1);
            editing.edit(2);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
        }
        QByteArray bytes = bytesOf(file());
        bytes[3] = char(bytes[3] ^ 1);
        put(file(), bytes);
        const LeftWork left = readLeft(m_folder->path(), {});
        QVERIFY(left.plans.empty());
        QCOMPARE(left.unreadable.size(), 1);
        QCOMPARE(bytesOf(left.unreadable.front()), bytes);
        QVERIFY(readLeft(m_folder->path(), {}).unreadable.isEmpty());
    }
    void aJournalOfALaterVersionIsLeftAlone()
    {
        put(file(), toBytes({ { { "kind", "journal" }, { "format", "trainyard.journal" }, { "version", 2 } }, {} }));
        const QByteArray before = bytesOf(file());
        const LeftWork left = readLeft(m_folder->path(), {});
        QVERIFY(left.plans.empty() && left.unreadable.isEmpty());
        QCOMPARE(bytesOf(file()), before);
    }
    void variantsAreKeptApartAndGivenUpApart()
    {
        Journal journal(file());
        Editing a(1), b(100);
        a.edit(2), b.edit(101);
        QVERIFY(journal.keep({ { "a", a.work() } }));
        QVERIFY(journal.keep({ { "b", b.work() } }));
        a.edit(3);
        QVERIFY(journal.keep({ { "a", a.work() } }));
        b.goTo(0);
        QVERIFY(journal.keep({ { "b", b.work() } }));
        QCOMPARE(works().size(), std::size_t(2));
        QCOMPARE(works()[0].variant, QStringLiteral("a"));
        QCOMPARE(told(numbersOf(works()[0].work)), told(numbersOf(a.work())));
        QCOMPARE(told(numbersOf(works()[1].work)), told(numbersOf(b.work())));
        QVERIFY(journal.keep({ { "a", std::nullopt } }));
        QCOMPARE(works().size(), std::size_t(1));
        QCOMPARE(works()[0].variant, QStringLiteral("b"));
        QVERIFY(journal.keep({ { "b", std::nullopt } }));
        QVERIFY(!QFile::exists(file()));
    }
    void whatIsDiscardedOfSeveralVariantsIsGoneAlone()
    {
        {
            Journal journal(file());
            Editing a(1), b(100);
            a.edit(2), b.edit(101);
            QVERIFY(journal.keep({ { "a", a.work() }, { "b", b.work() } }));
        }
        LeftWork left = readLeft(m_folder->path(), {});
        QCOMPARE(left.plans.size(), std::size_t(2));
        const auto first = std::ranges::find(left.plans, QStringLiteral("a"), &RecoveredPlan::variant);
        removeLeft(*first);
        left = readLeft(m_folder->path(), {});
        QCOMPARE(left.plans.size(), std::size_t(1));
        QCOMPARE(left.plans.front().variant, QStringLiteral("b"));
        removeLeft(left.plans.front());
        QVERIFY(QDir(m_folder->path()).isEmpty());
    }
    void cleanWorkIsKeptToBeEditedOnButNotOffered()
    {
        {
            Journal journal(file());
            Editing editing(1);
            editing.edit(2);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            editing.save(QStringLiteral("/a"));
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            QVERIFY(QFile::exists(file()));
        } // as if it had crashed: not closed
        QVERIFY(readLeft(m_folder->path(), {}).plans.empty());
        QVERIFY(QDir(m_folder->path()).isEmpty());
    }
    void atTheEndOfAWindowAFileOfCleanWorkGoes()
    {
        Journal journal(file());
        Editing editing(1);
        editing.edit(2);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        journal.close();
        QVERIFY(QFile::exists(file()));
        editing.save(QStringLiteral("/a"));
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        journal.close();
        QVERIFY(!QFile::exists(file()));
    }
    void aLongJournalIsWrittenWholeWithItsNewestEdits()
    {
        constexpr qint64 kShort = 20'000;
        Journal journal(file(), kShort);
        Editing editing(0);
        qint64 longest = 0;
        int rewritten = 0;
        for (int number = 1; number <= 400; ++number) {
            const qint64 before = QFileInfo(file()).size();
            editing.edit(number);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            longest = std::max(longest, QFileInfo(file()).size());
            rewritten += QFileInfo(file()).size() < before;
            const Numbers numbers = kept();
            const int start = numbers.plans.front();
            QVERIFY(int(numbers.plans.size()) == number - start + 1 && numbers.done == number - start);
            QVERIFY(start == 0 || numbers.done >= 50);
            for (int i = 0; i <= numbers.done; ++i)
                QCOMPARE(numbers.plans[std::size_t(i)], start + i);
        }
        QVERIFY(rewritten >= 2);
        QVERIFY(longest < 10 * kShort);
    }
    void undoingFurtherThanTheFileReachesIsKeptToo()
    {
        Journal journal(file(), 20'000);
        Editing editing(0);
        for (int number = 1; number <= 150; ++number) {
            editing.edit(number);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
        }
        QVERIFY(kept().plans.front() > 10);
        for (int done = 149; done >= 0; --done) {
            editing.goTo(done);
            QVERIFY(journal.keep({ { {}, editing.work() } }));
            const UnsavedWork work = works().front().work;
            QCOMPARE(numberOf(work.plan()), done);
            QCOMPARE(numberOf(work.edits.back().plan), 150); // all can be done again
        }
    }
    void aFullDiskIsToldAndNothingThatWasKeptIsLost()
    {
        Journal journal(file());
        Editing editing(1);
        editing.edit(2);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        const QByteArray before = told(kept());
        const qint64 bytes = QFileInfo(file()).size();
        {
            const FullDisk full(bytes + 100); // a part of the next line
            editing.edit(3);
            const auto done = journal.keep({ { {}, editing.work() } });
            QVERIFY(!done && done.error().code == ErrorCode::NoRoom);
            QVERIFY(!journal.isOnDisk());
            QCOMPARE(told(kept()), before);
            QCOMPARE(QFileInfo(file()).size(), bytes); // no torn line stays
            editing.edit(4);
            QVERIFY(!journal.keep({ { {}, editing.work() } }));
        }
        editing.edit(5);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        QVERIFY(journal.isOnDisk());
        QCOMPARE(told(kept()), told(numbersOf(editing.work())));
        QCOMPARE(QDir(m_folder->path()).entryList({ "*.part" }, QDir::Files), QStringList());
    }
    void aFileThatSomebodyRemovedIsWrittenAgain()
    {
        Journal journal(file());
        Editing editing(1);
        editing.edit(2);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        QVERIFY(QFile::remove(file()));
        editing.edit(3);
        QVERIFY(journal.keep({ { {}, editing.work() } }));
        QCOMPARE(told(kept()), told(numbersOf(editing.work())));
    }

private:
    QString file() const { return m_folder->filePath(QStringLiteral("window.journal")); }
    QString torn() const { return m_folder->filePath(QStringLiteral("torn.journal")); }
    std::vector<RecoveredPlan> works() const { return readJournal(file()).works; }
    Numbers kept() const
    {
        const auto all = works();
        return all.size() == 1 ? numbersOf(all.front().work) : Numbers();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TestJournal)
#include "tst_journal.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// A program that edits without a pause is killed at some moment; what it had reported as done is compared with what is
// recovered. The edits, undos and redos are a fixed sequence, which is followed here with a list of numbers.
#include "models/left_work.h"
#include "models/plan_document.h"
#include "tests/models/journal/journalled_plans.h"
#include "tests/support/test_program.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <random>
#include <span>
#include <thread>
#include <unistd.h>

using namespace trainyard;
using namespace trainyard::test;
using namespace std::chrono_literals;

namespace {

constexpr int kRuns = 50;

enum class Act { Edit, Slide, Undo, Redo };

/// What is done as the `step`-th, from 1; ten steps that come again and again.
Act actOf(int step)
{
    using enum Act;
    constexpr Act kActs[] = { Edit, Edit, Slide, Slide, Slide, Edit, Undo, Undo, Redo, Edit };
    return kActs[(step - 1) % 10];
}

/// Runs until it is killed: each step is a line of its standard output once it is done.
int editUntilKilled(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    PlanDocument document(numbered(0), QString::fromLocal8Bit(argv[1]));
    document.recovery().setLongestWait(60s); // a busy machine is no disk that hangs
    for (int step = 1;; ++step) {
        switch (actOf(step)) {
        case Act::Edit:
            document.apply(numbered(step));
            break;
        case Act::Slide:
            document.apply(numbered(step), {}, QStringLiteral("slider %1").arg(step / 10));
            break;
        case Act::Undo:
            document.undoStack().undo();
            break;
        case Act::Redo:
            document.undoStack().redo();
            break;
        }
        const std::string line = std::to_string(step) + '\n';
        if (::write(STDOUT_FILENO, line.data(), line.size()) != ssize_t(line.size()))
            return 1;
    }
}

const tests::RegisteredTest editor("tests/models/journal/edit_until_killed", editUntilKilled);

/// The numbers of the plans in the stack, and how many edits are in force, after so many steps.
Numbers after(int steps)
{
    Numbers numbers { { 0 }, 0, 0, false };
    for (int step = 1; step <= steps; ++step) {
        const Act act = actOf(step);
        if (act == Act::Undo)
            --numbers.done;
        if (act == Act::Redo)
            ++numbers.done;
        if (act == Act::Undo || act == Act::Redo)
            continue;
        const bool isMerged = act == Act::Slide && actOf(step - 1) == Act::Slide;
        numbers.plans.resize(std::size_t(numbers.done) + (isMerged ? 0 : 1));
        numbers.plans.push_back(step);
        numbers.done = int(numbers.plans.size()) - 1;
    }
    return numbers;
}

/// Long journals have the newest edits alone.
bool isTail(const Numbers &read, const Numbers &whole)
{
    const std::ptrdiff_t dropped = std::ptrdiff_t(whole.plans.size()) - std::ptrdiff_t(read.plans.size());
    return dropped >= 0 && (dropped == 0 || read.plans.size() > 50) && read.done == whole.done - dropped
        && std::ranges::equal(read.plans, std::span(whole.plans).subspan(std::size_t(dropped)));
}

} // namespace

class TestKilledEditing : public QObject {
    Q_OBJECT

private slots:
    void killedAtFiftyMomentsEditingLosesAtMostOneStep()
    {
        std::mt19937 random(46);
        std::uniform_int_distribution<int> delayUs(0, 120'000);
        int steps = 0, kept = 0;
        for (int run = 0; run < kRuns; ++run) {
            const QTemporaryDir folder;
            const int done = killedAfter(std::chrono::microseconds(delayUs(random)), folder.path());
            QVERIFY(done >= 1);
            const LeftWork left = readLeft(folder.path(), {});
            QVERIFY2(left.unreadable.isEmpty(), qPrintable(left.unreadable.join(u' ')));
            // Before its first edit is on disk there is nothing.
            QCOMPARE(left.plans.size(), std::size_t(done > 1 || !left.plans.empty() ? 1 : 0));
            if (left.plans.empty())
                continue;
            QVERIFY(!left.plans.front().isDamaged);
            const Numbers read = numbersOf(left.plans.front().work);
            // One fewer than was reported, or one that was done and not yet reported.
            const bool isKept = isTail(read, after(done)) || isTail(read, after(done + 1));
            QVERIFY2(isKept || isTail(read, after(done - 1)),
                "run " + QByteArray::number(run) + ", step " + QByteArray::number(done) + ": " + told(read));
            steps += done;
            kept += isKept;
        }
        qInfo("%d steps, every one kept in %d of %d runs", steps, kept, kRuns);
        QVERIFY(steps > 2 * kRuns);
    }

private:
    /// The last step that it reported.
    static int killedAfter(std::chrono::microseconds delay, const QString &folder)
    {
        QProcess process;
        process.start(
            QCoreApplication::applicationFilePath(), { QStringLiteral("models.journal.edit_until_killed"), folder });
        if (!process.waitForReadyRead(60'000))
            return -1;
        std::this_thread::sleep_for(delay);
        ::kill(pid_t(process.processId()), SIGKILL);
        process.waitForFinished();
        const QByteArray reported = process.readAllStandardOutput();
        const QByteArray whole = reported.first(reported.lastIndexOf('\n'));
        return whole.sliced(whole.lastIndexOf('\n') + 1).toInt();
    }
};

TRAINYARD_GUILESS_TEST(TestKilledEditing)
#include "tst_killed_editing.moc"

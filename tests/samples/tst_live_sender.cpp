// SPDX-License-Identifier: GPL-3.0-or-later
// samples/live, run as a person would: what the sender and its hooks tell over a socket is what the decoder reads, and
// no listener, or one that comes and goes, ever holds up or ends the program that sends. Skipped without a Python.
#include "core/live/store.h"
#include "tests/core/live/decoding.h"
#include "tests/support/loopback.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>

using namespace trainyard;
using namespace trainyard::live;
using namespace trainyard::live::testing;

namespace {

constexpr int kLong = 60'000; // ms, that nothing here takes
const QString kFolder = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/live");

/// A port of loopback that the kernel chose.
class Listener {
public:
    Listener()
        : m_socket(test::listenOnLoopback(m_port))
    {
        if (m_socket < 0)
            qFatal("no port of loopback");
    }
    ~Listener() { ::close(m_socket); }
    [[nodiscard]] QString address() const { return QStringLiteral("127.0.0.1:%1").arg(m_port); }

    /// The next connection, `connected` once it is there; what it sends until it ends, or until `until` is in it,
    /// whereupon it is cut.
    std::string heard(
        const std::string &until = "", const std::function<void()> &connected = [] {}) const
    {
        if (!isReadable(m_socket))
            return {};
        const int peer = ::accept4(m_socket, nullptr, nullptr, SOCK_CLOEXEC);
        connected();
        std::string text;
        char block[65'536];
        while (isReadable(peer)) {
            const ssize_t size = ::read(peer, block, sizeof block);
            if (size <= 0)
                break;
            text.append(block, std::size_t(size));
            if (!until.empty() && text.find(until) != std::string::npos)
                break;
        }
        ::close(peer);
        return text;
    }

private:
    static bool isReadable(int socket)
    {
        pollfd asked { socket, POLLIN, 0 };
        return ::poll(&asked, 1, kLong) == 1;
    }
    quint16 m_port = 0;
    int m_socket;
};

bool runs(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.start(program, arguments);
    return process.waitForFinished(kLong) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
}

/// One that can import that; empty where there is none.
QString pythonWith(const QString &module)
{
    for (const QString &program : { QStringLiteral("/usr/bin/python3"), QStringLiteral("python3") })
        if (!QStandardPaths::findExecutable(program).isEmpty()
            && runs(program, { QStringLiteral("-c"), QStringLiteral("import ") + module }))
            return program;
    return {};
}

class Script {
public:
    Script(const QString &python, const QStringList &arguments, const QString &path = kFolder)
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("PYTHONPATH"), path);
        environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
        process.setProcessEnvironment(environment);
        process.start(python, arguments);
    }
    ~Script()
    {
        process.kill();
        process.waitForFinished();
    }
    [[nodiscard]] bool hasEnded()
    {
        return process.waitForFinished(kLong) && process.exitStatus() == QProcess::NormalExit
            && process.exitCode() == 0;
    }
    QProcess process;
};

Expected<Joined> read(const std::string &lines)
{
    const DecoderPtr decoder = makeLinesDecoder("peer");
    return decoded(*decoder, lines);
}

const QString kTold = QStringLiteral(R"(
import sys, time
from trainyard_live import Stream
live = Stream(sys.argv[1], rank=3, world_size=8, run="tiny")
live.keep("group", name="dp", ranks=[0, 3])
count, waits = int(sys.argv[2]), sys.argv[3] == "waits"
slowest = 0
for number in range(count):
    if waits and number == 30: sys.stdin.readline()
    began = time.monotonic()
    live.send("step", number=number, start_ns=10**18 + number * 1000, end_ns=10**18 + number * 1000 + 999)
    live.send("sample", name="loss", unit="1", value=float("nan") if number == 1 else 1.5, step=number)
    slowest = max(slowest, time.monotonic() - began)
if waits: sys.stdin.readline()
live.close()
print(live.dropped, slowest)
)");

} // namespace

class TestLiveSender : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_python = pythonWith(QStringLiteral("json"));
        if (m_python.isEmpty())
            QSKIP("There is no python3 on this machine, which the samples are written in");
    }

    void itFitsOnAScreenAndNeedsNothing()
    {
        QFile file(kFolder + QStringLiteral("/trainyard_live.py"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        QVERIFY(text.count('\n') <= 60);
        QCOMPARE(text.count("import "), 1); // of the standard library
    }

    void whatItIsGivenIsWhatTheDecoderReads()
    {
        const Listener listener;
        Script script(
            m_python, { QStringLiteral("-c"), kTold, listener.address(), QStringLiteral("50"), QStringLiteral("on") });
        const auto all = read(listener.heard());
        QVERIFY(script.hasEnded());
        QVERIFY(all && all->dropped.empty() && all->notes.empty());
        QCOMPARE(all->whole.name, "tiny");
        QCOMPARE(all->whole.ranks.size(), std::size_t(1));
        QCOMPARE(all->whole.ranks[0].rank, 3);
        QCOMPARE(all->whole.ranks[0].worldSize, 8);
        QCOMPARE(all->whole.ranks[0].steps.size(), std::size_t(50));
        QCOMPARE(all->whole.ranks[0].steps[49].start, Moment(1'000'000'000'000'049'000));
        QCOMPARE(all->whole.groups[0].ranks, (std::vector<int> { 0, 3 }));
        QVERIFY(std::isnan(all->whole.series[0].value[1]));
        QVERIFY(script.process.readAllStandardOutput().startsWith("0 "));
    }

    void aListenerThatGoesIsFoundAgain()
    {
        const Listener listener;
        Script script(m_python,
            { QStringLiteral("-c"), kTold, listener.address(), QStringLiteral("300"), QStringLiteral("waits") });
        const auto goOn = [&script] {
            script.process.write("\n");
            script.process.waitForBytesWritten();
        };
        Store store;
        std::string heard = listener.heard("\"number\": 20,"); // then it is cut
        goOn(); // with step 30 and those behind it
        for (int again = 0; again < 2; ++again) {
            const DecoderPtr decoder = makeLinesDecoder("peer");
            const BatchOut out = [&](Batch &&batch) { store.take(std::move(batch)); };
            QVERIFY(decoder->take(heard, kReceived, out));
            decoder->end(kReceived, out);
            if (again == 0)
                heard = listener.heard("", goOn); // it ends once it was found again
        }
        QVERIFY(script.hasEnded());
        QVERIFY(heard.starts_with("{\"event\": \"hello\""));
        QVERIFY(heard.find("\"dp\"") != std::string::npos); // who comes later hears of groups too
        const Recording recording = *store.snapshot({})->recording;
        QCOMPARE(recording.ranks.size(), std::size_t(1));
        // nothing is lost but what was on its way when the listener went: steps 21 to 29 at most
        QVERIFY(recording.ranks[0].steps.size() >= 300 - 9);
        QCOMPARE(recording.ranks[0].steps.back().number, std::int64_t(299));
    }

    void nobodyToListenHoldsNothingUp()
    {
        QString nowhere;
        {
            const Listener gone;
            nowhere = gone.address();
        }
        Script script(
            m_python, { QStringLiteral("-c"), kTold, nowhere, QStringLiteral("30000"), QStringLiteral("on") });
        QVERIFY(script.hasEnded());
        // 60,000 events and a group, of which 20,000 find room
        QVERIFY(script.process.readAllStandardOutput().startsWith("4000"));
    }

    void oneWhoConnectsAndNeverReadsHoldsNothingUp()
    {
        const Listener deaf; // the kernel answers; nobody reads
        Script script(
            m_python, { QStringLiteral("-c"), kTold, deaf.address(), QStringLiteral("100000"), QStringLiteral("on") });
        QVERIFY(script.hasEnded());
        QVERIFY(script.process.readAllStandardOutput().toDouble() >= 0);
    }

    void aPyTorchLoopTellsItsSteps()
    {
        const QString python = pythonWith(QStringLiteral("torch"));
        if (python.isEmpty())
            QSKIP("No Python of this machine has PyTorch");
        const Listener listener;
        Script script(python, { kFolder + QStringLiteral("/train_toy.py"), listener.address(), QStringLiteral("6") });
        const auto all = read(listener.heard());
        QVERIFY2(script.hasEnded(), script.process.readAllStandardError().constData());
        QVERIFY(all && all->dropped.empty());
        const RankRecording &rank = all->whole.ranks.at(0);
        QCOMPARE(rank.steps.size(), std::size_t(6));
        const RecordedSpans &spans = rank.streams.at(0).spans;
        QCOMPARE(spans.size(), std::size_t(6 * 3)); // forward, backward, optimizer
        for (std::size_t i = 0; i < spans.size(); ++i) {
            const RecordedStep &step = rank.steps[i / 3];
            QVERIFY(spans.work[i] == RecordedWork::Compute);
            QVERIFY(spans.start[i] >= step.start && spans.start[i] + spans.duration[i] <= step.end);
        }
        QCOMPARE(all->whole.series.at(0).at.size(), std::size_t(6));
    }

    void collectivesOfSeveralProcessesAreTold()
    {
        const QString python = pythonWith(QStringLiteral("torch.distributed"));
        if (python.isEmpty()
            || !runs(python,
                { QStringLiteral("-c"), QStringLiteral("import torch.distributed as d; exit(not d.is_available())") }))
            QSKIP("No Python of this machine has torch.distributed");
        const Listener listener;
        const QString address = listener.address();
        quint16 port = 0;
        {
            const Listener free;
            port = free.address().section(':', 1).toUShort();
        }
        std::vector<std::unique_ptr<QProcess>> ranks;
        for (int rank = 0; rank < 2; ++rank) {
            QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
            environment.insert(QStringLiteral("PYTHONDONTWRITEBYTECODE"), QStringLiteral("1"));
            environment.insert(QStringLiteral("RANK"), QString::number(rank));
            environment.insert(QStringLiteral("WORLD_SIZE"), QStringLiteral("2"));
            environment.insert(QStringLiteral("MASTER_ADDR"), QStringLiteral("127.0.0.1"));
            environment.insert(QStringLiteral("MASTER_PORT"), QString::number(port));
            environment.insert(QStringLiteral("GLOO_SOCKET_IFNAME"), QStringLiteral("lo"));
            ranks.push_back(std::make_unique<QProcess>());
            ranks.back()->setProcessEnvironment(environment);
            ranks.back()->start(python, { kFolder + QStringLiteral("/train_toy.py"), address, QStringLiteral("4") });
        }
        Joined joined;
        for (int rank = 0; rank < 2; ++rank) {
            const DecoderPtr decoder = makeLinesDecoder("peer");
            const BatchOut out = [&](Batch &&batch) { joined.add(batch); };
            QVERIFY(decoder->take(listener.heard(), kReceived, out));
            decoder->end(kReceived, out);
        }
        for (const auto &rank : ranks)
            QVERIFY2(rank->waitForFinished(kLong) && rank->exitCode() == 0, rank->readAllStandardError().constData());
        QCOMPARE(joined.whole.ranks.size(), std::size_t(2));
        for (const RankRecording &rank : joined.whole.ranks) {
            QCOMPARE(rank.collectives.size(), std::size_t(4 * 8)); // a weight and a bias of each of four layers
            QCOMPARE(rank.collectives[0].bytes, 256.0 * 256 * 4);
            QCOMPARE(rank.collectives.back().sequence, std::int64_t(31));
            QCOMPARE(joined.whole.groups[rank.collectives[0].group].ranks, (std::vector<int> { 0, 1 }));
        }
    }

    /// With two modules in the place of Megatron's that have what the hook wraps.
    void megatronIsHeardWithoutAPatch()
    {
        QTemporaryDir folder;
        const auto write = [&](const QString &name, const QByteArray &text) {
            QDir(folder.path()).mkpath(QFileInfo(name).path());
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text);
        };
        write(QStringLiteral("megatron/__init__.py"), "");
        write(QStringLiteral("megatron/core/__init__.py"), "");
        write(QStringLiteral("megatron/core/timers.py"), R"(import time
class Timer:
    def __init__(self, name):
        self.name = name
    def start(self, barrier=False):
        self._start_time = time.time()
    def stop(self, barrier=False):
        self._stopped = True
)");
        write(QStringLiteral("megatron/training/__init__.py"), R"(import types
def get_args():
    return types.SimpleNamespace(tensor_model_parallel_size=2, lr=0.1)
)");
        write(QStringLiteral("megatron/training/training.py"), R"(from megatron.core.timers import Timer
def training_log(loss_dict, total_loss_dict, learning_rate, iteration, loss_scale=1, grad_norm=None):
    return "as before"
def train():
    for iteration in range(1, 4):
        for name in ("forward-backward", "forward-compute", "forward-recv", "optimizer"):
            timer = Timer(name)
            timer.start()
            timer.stop()
        assert training_log({"lm loss": 2.5}, {}, 0.001, iteration, grad_norm=7) == "as before"
)");
        const Listener listener;
        const QString script =
            QStringLiteral("import sys, megatron_hook\nlive = megatron_hook.install(sys.argv[1], run='m')\n"
                           "from megatron.training import training\ntraining.train()\nlive.close()\n");
        Script run(m_python, { QStringLiteral("-c"), script, listener.address() }, kFolder + ":" + folder.path());
        const auto all = read(listener.heard());
        QVERIFY2(run.hasEnded(), run.process.readAllStandardError().constData());
        QVERIFY(all && all->dropped.empty());
        QCOMPARE(all->whole.arguments.at("tensor_model_parallel_size"), "2");
        const RankRecording &rank = all->whole.ranks.at(0);
        QCOMPARE(rank.steps.size(), std::size_t(3));
        std::size_t compute = 0, communication = 0;
        for (const RecordedStream &stream : rank.streams)
            for (const RecordedWork work : stream.spans.work) {
                compute += work == RecordedWork::Compute;
                communication += work == RecordedWork::Communication;
            }
        QCOMPARE(compute, std::size_t(6));
        QCOMPARE(communication, std::size_t(3));
        const auto loss = std::ranges::find(all->whole.series, std::string("loss"), &SampleSeries::name);
        QVERIFY(loss != all->whole.series.end() && loss->value == std::vector<double>(3, 2.5));
    }

private:
    QString m_python;
};

TRAINYARD_GUILESS_TEST(TestLiveSender)
#include "tst_live_sender.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
// `sweep` as people run it: the same bytes from one thread, from many, from two ranks of MPI, and after kill -9 and
// --resume; what is refused, and what is said.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>
#include <memory>

using namespace trainyard::test;

namespace {

const QString kPlan = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/gpt3-175b-1024-a100.trainyard.json");

/// 360 rows a batch: some fit, most do not.
QStringList sweptKeys(const QString &batches = QStringLiteral("1536"))
{
    return words("--vary parallelism.tensor=1..8:*2 --vary parallelism.pipeline=1,2,4,8,16 --vary "
                 "parallelism.data=auto,4,8 --vary workload.micro_batch=1..4:*2 --vary memory.recompute=none,full "
                 "--vary")
        << QStringLiteral("workload.global_batch=") + batches;
}

constexpr int kRows = 4 * 5 * 3 * 3 * 2;
const QString kManyBatches = QStringLiteral("512..2560:+512"); // long enough for a process to be killed in it
constexpr int kManyRows = kRows * 5;
const QString kMostBatches = QStringLiteral("512..2560:+256"); // long enough for one of two ranks to be killed in it

QByteArray bytesOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Kills the program, without a word, once so many rows are in the file; false where it was done before.
bool killedAfter(QProcess &process, const QString &path, int rows)
{
    QElapsedTimer waited;
    for (waited.start(); bytesOf(path).count('\n') < rows + 2 && waited.elapsed() < 60'000;)
        if (process.waitForFinished(2))
            return false;
    ::kill(static_cast<pid_t>(process.processId()), SIGKILL);
    process.waitForFinished();
    return true;
}

} // namespace

class TstSweep : public QObject {
    Q_OBJECT

private slots:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void rowsArePrintedWhereThereIsNoFile()
    {
        const Answer csv = run(words("sweep --vary parallelism.tensor=4,8 --vary schedule=1f1b,gpipe") << kPlan);
        QCOMPARE(csv.exitCode, 0);
        const QStringList lines = QString::fromStdString(csv.out).trimmed().split(u'\n');
        QCOMPARE(lines.size(), 6); // head, names, four rows
        QVERIFY(lines[0].startsWith(QLatin1String("# trainyard sweep {")));
        QVERIFY(lines[1].startsWith(QLatin1String("row,parallelism.tensor,schedule,state,iteration_time_s,")));
        QVERIFY(lines[5].startsWith(QLatin1String("3,8,gpipe,")));
        const Answer json = run(words("sweep --format jsonl --vary parallelism.tensor=4,8") << kPlan);
        const QStringList objects = QString::fromStdString(json.out).trimmed().split(u'\n');
        QCOMPARE(objects.size(), 3);
        const auto row = nlohmann::json::parse(objects[2].toStdString());
        QCOMPARE(row["row"].get<int>(), 1);
        QCOMPARE(row["parallelism.tensor"].get<int>(), 8);
    }

    void aRowIsWhatEvaluateSays()
    {
        const Answer swept = run(words("sweep --format jsonl --vary parallelism.tensor=8 --vary schedule=interleaved "
                                       "--vary memory.recompute=full")
            << kPlan);
        const auto row =
            nlohmann::json::parse(QString::fromStdString(swept.out).trimmed().split(u'\n').last().toStdString());
        const Answer evaluated = run(words("evaluate --format json --set parallelism.tensor=8 --set "
                                           "schedule=interleaved --set memory.recompute=full")
            << kPlan);
        const auto metrics = nlohmann::json::parse(evaluated.out);
        QCOMPARE(row["state"] == "feasible", metrics["feasible"].get<bool>());
        for (const char *name : { "iteration_time_s", "tokens_per_s", "mfu", "bubble_fraction", "gpus_used" })
            QCOMPARE(row[name].get<double>(), metrics[name].get<double>());
        for (const char *name : { "peak_bytes", "device_bytes", "capacity_bytes" })
            QCOMPARE(row[std::string("memory.") + name].get<double>(), metrics["memory"][name].get<double>());
        QCOMPARE(
            row["cost.usd_per_million_tokens"].get<double>(), metrics["cost"]["usd_per_million_tokens"].get<double>());
        // USD per hour = USD per iteration · 3600 / seconds of it; fill = device / capacity
        QCOMPARE(row["cost.usd_per_hour"].get<double>(),
            metrics["cost"]["usd_per_iteration"].get<double>() * 3600 / metrics["iteration_time_s"].get<double>());
        QCOMPARE(row["memory.fill"].get<double>(),
            metrics["memory"]["device_bytes"].get<double>() / metrics["memory"]["capacity_bytes"].get<double>());
    }

    void oneThreadAndManyWriteTheSameFile()
    {
        for (const char *ending : { "csv", "jsonl" }) {
            const QString one = file(QStringLiteral("one.") + QLatin1String(ending));
            const QString many = file(QStringLiteral("many.") + QLatin1String(ending));
            QCOMPARE(sweep(words("--threads 1 --out") << one).exitCode, 0);
            const Answer answer = sweep(words("--threads 7 --out") << many);
            QCOMPARE(answer.exitCode, 0);
            QVERIFY(answer.out.starts_with("360 rows: "));
            QCOMPARE(bytesOf(one).count('\n'), kRows + (ending[0] == 'c' ? 2 : 1));
            QVERIFY(bytesOf(one) == bytesOf(many));
        }
    }

    void kill9AndResumeGiveTheSameFile()
    {
        const QString whole = file(QStringLiteral("whole.csv")), killed = file(QStringLiteral("killed.csv"));
        QCOMPARE(sweepMany(words("--out") << whole).exitCode, 0);
        int kills = 0;
        for (int rows = 100; rows < kManyRows; rows += 1000) {
            QProcess process;
            process.start(QStringLiteral(TRAINYARD_CLI),
                QStringList { QStringLiteral("sweep"), kPlan } + sweptKeys(kManyBatches)
                    + words("--resume --threads 1 --out") + QStringList { killed });
            kills += killedAfter(process, killed, rows);
            QVERIFY(bytesOf(killed).size() <= bytesOf(whole).size());
        }
        QVERIFY(kills > 0);
        const Answer answer = sweepMany(words("--resume --out") << killed);
        QCOMPARE(answer.exitCode, 0);
        QVERIFY2(answer.out.find("were there") != std::string::npos, answer.out.c_str());
        QVERIFY(bytesOf(killed) == bytesOf(whole));
        QCOMPARE(sweepMany(words("--resume --out") << killed).exitCode, 0); // nothing to do
        QVERIFY(bytesOf(killed) == bytesOf(whole));
    }

    void aDrawIsTheSameAgain()
    {
        const QString a = file(QStringLiteral("a.csv")), b = file(QStringLiteral("b.csv"));
        QCOMPARE(sweep(words("--random 200 --seed 5 --threads 1 --out") << a).exitCode, 0);
        QCOMPARE(sweep(words("--random 200 --seed 5 --threads 3 --out") << b).exitCode, 0);
        QVERIFY(bytesOf(a) == bytesOf(b));
        QCOMPARE(bytesOf(a).count('\n'), 202);
        const Answer other = sweep(words("--random 200 --seed 6 --resume --out") << b);
        QCOMPARE(other.exitCode, 2);
        QVERIFY2(other.err.contains(QLatin1String("seed 5")), qPrintable(other.err));
    }

    void aSignalLeavesWholeRowsAndSaysHowToGoOn()
    {
        const QString whole = file(QStringLiteral("whole.csv")), stopped = file(QStringLiteral("stopped.csv"));
        QCOMPARE(sweepMany(words("--out") << whole).exitCode, 0);
        for (const int signal : { SIGINT, SIGTERM, SIGHUP }) {
            QFile::remove(stopped);
            QProcess process;
            process.start(QStringLiteral(TRAINYARD_CLI),
                QStringList { QStringLiteral("sweep"), kPlan } + sweptKeys(kManyBatches) + words("--threads 1 --out")
                    + QStringList { stopped });
            while (bytesOf(stopped).count('\n') < 20 && process.state() != QProcess::NotRunning)
                process.waitForFinished(2);
            ::kill(static_cast<pid_t>(process.processId()), signal);
            const Answer answer = answerOf(process);
            QCOMPARE(answer.exitCode, 130);
            QVERIFY2(answer.err.contains(QLatin1String("--resume")), qPrintable(answer.err));
            QVERIFY(bytesOf(whole).startsWith(bytesOf(stopped)));
            QVERIFY(bytesOf(stopped).endsWith('\n'));
            // What it says is what one types.
            QString line = answer.err.mid(answer.err.indexOf(QLatin1String("trainyard-cli sweep"))).trimmed();
            line.replace(QLatin1String("trainyard-cli"), QLatin1String("\"$0\""));
            QCOMPARE(shell(line).exitCode, 0);
            QVERIFY(bytesOf(stopped) == bytesOf(whole));
        }
    }

    void whatCannotBeSweptIsTold_data()
    {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<QString>("told");
        const auto add = [](const char *arguments, const char *told) {
            QTest::addRow("%s", arguments) << QString::fromUtf8(arguments) << QString::fromUtf8(told);
        };
        add("", "--vary");
        add("--vary parallelism.tensr=1", "parallelism.tensor");
        add("--vary parallelism.tensor=1,x", "tensor is \"x\"");
        add("--vary parallelism.tensor", "KEY=V1,V2");
        add("--vary parallelism.tensor=1 --out rows.txt", ".csv or .jsonl");
        add("--vary parallelism.tensor=1 --resume", "--out");
        add("--vary workload.global_batch=1..100000 --vary workload.sequence_length=1..100000", "--random");
        add("--vary parallelism.tensor=1 --out /nowhere/rows.csv", "/nowhere/rows.csv");
        add("--vary parallelism.tensor=1 --slurm job.sh", "--out");
        add("--vary parallelism.tensor=1 --out /tmp/rows.csv --format jsonl", "/tmp/rows.csv");
        add("--vary parallelism.tensor=1 --random 0", "--random");
        add("--vary parallelism.tensor=8..1", "counts down");
    }
    void whatCannotBeSweptIsTold()
    {
        QFETCH(QString, arguments);
        QFETCH(QString, told);
        const Answer answer =
            run(QStringList { QStringLiteral("sweep"), kPlan } + arguments.split(u' ', Qt::SkipEmptyParts));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(told), qPrintable(answer.err));
    }

    /// Rows of another model, or of another program, are not appended to those that are there.
    void whatReadsOtherFilesGoesOnOnlyWithTheSame()
    {
        QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("models")));
        QFile model(file(QStringLiteral("models/config.json")));
        const auto writeModel = [&](int layers) {
            QVERIFY(model.open(QIODevice::WriteOnly | QIODevice::Truncate));
            model.write(QStringLiteral(R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4096,
                "intermediate_size":14336,"num_attention_heads":32,"num_key_value_heads":8,"num_hidden_layers":%1,
                "vocab_size":128256,"max_position_embeddings":8192,"tie_word_embeddings":false})")
                            .arg(layers)
                            .toUtf8());
            model.close();
        };
        writeModel(32);
        const Answer exported = run({ QStringLiteral("evaluate"), kPlan, QStringLiteral("--set"),
            QStringLiteral("workload.model=") + model.fileName() });
        QVERIFY2(exported.exitCode == 0, qPrintable(exported.err));
        const QString rows = file(QStringLiteral("rows.csv"));
        const QStringList arguments { QStringLiteral("sweep"), kPlan, QStringLiteral("--set"),
            QStringLiteral("workload.model=") + model.fileName(), QStringLiteral("--vary"),
            QStringLiteral("workload.micro_batch=1,2,4"), QStringLiteral("--resume"), QStringLiteral("--out"), rows };
        QCOMPARE(run(arguments).exitCode, 0);
        const QByteArray whole = bytesOf(rows);
        QVERIFY(whole.contains("\"inputs\":[{\"path\":"));
        const auto cutTo = [&](const QByteArray &bytes) {
            QFile out(rows);
            QVERIFY(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
            out.write(bytes);
        };
        cutTo(whole.left(whole.size() / 2 + whole.size() / 4));
        writeModel(16);
        const Answer changed = run(arguments);
        QCOMPARE(changed.exitCode, 2);
        QVERIFY2(changed.err.contains(QStringLiteral("config.json is not what it was")), qPrintable(changed.err));
        writeModel(32);
        // A last row that is not as it was written is worked out anew, as a torn one is.
        const qsizetype last = whole.lastIndexOf("\n2,"), before = whole.lastIndexOf("\n1,");
        QByteArray other = whole.left(last + 1);
        other.replace(before + 1, other.size() - before - 1,
            whole.mid(before + 1, last - before).replace("feasible,", "feasible,1"));
        cutTo(other);
        QCOMPARE(run(arguments).exitCode, 0);
        QVERIFY(bytesOf(rows) == whole);
        cutTo(QByteArray(whole).replace("\"program\":\"", "\"program\":\"9."));
        const Answer version = run(arguments);
        QCOMPARE(version.exitCode, 2);
        QVERIFY2(version.err.contains(QStringLiteral("begun by version 9.")), qPrintable(version.err));
        cutTo(whole.left(last + 3));
        QCOMPARE(run(arguments).exitCode, 0);
        QVERIFY(bytesOf(rows) == whole);
    }

    void thePlanIsNotOverwritten()
    {
        const QString plan = file(QStringLiteral("plan.csv"));
        QVERIFY(QFile::copy(kPlan, plan));
        const Answer answer = run(words("sweep --vary parallelism.tensor=1 --out") << plan << plan);
        QCOMPARE(answer.exitCode, 2);
        QVERIFY(bytesOf(plan) == bytesOf(kPlan));
    }

    void theJobOfSlurmNamesTheSweepAndGoesOn()
    {
        const QString script = file(QStringLiteral("job.sh")), rows = file(QStringLiteral("it's\x1b[31m my\\rows.csv"));
        const QStringList out { QStringLiteral("--out"), rows, QStringLiteral("--slurm"), script };
        QCOMPARE(sweep(out).exitCode, 0);
        QVERIFY(!QFile::exists(rows));
        const QString text = QString::fromUtf8(bytesOf(script));
        QVERIFY(text.startsWith(QLatin1String("#!/usr/bin/env bash\n#SBATCH ")));
        QVERIFY(text.contains(QLatin1String("#SBATCH --requeue")) && !text.contains(u'\x1b')); // nor on a terminal
        // The script as Slurm would run it, with something that prints its arguments in the place of srun.
        const Answer printed =
            shell(QStringLiteral("TRAINYARD_LAUNCH='printf %s\\n' TRAINYARD_SWEEP=program bash \"$1\""), { script });
        const QStringList words = QString::fromStdString(printed.out).trimmed().split(u'\n');
        QCOMPARE(words.first(), QStringLiteral("program"));
        QVERIFY(words.contains(rows) && words.contains(kPlan) && words.contains(QStringLiteral("--resume")));
        for (const QString &key : sweptKeys())
            QVERIFY2(words.contains(key), qPrintable(key));
    }

    void twoRanksOfMpiWriteTheSameFile()
    {
        if (!hasMpi())
            QSKIP("There is no trainyard-sweep or no mpirun on this machine: nothing runs over MPI.");
        for (const char *ending : { "csv", "jsonl" }) {
            const QString one = file(QStringLiteral("one.") + QLatin1String(ending));
            const QString two = file(QStringLiteral("two.") + QLatin1String(ending));
            QCOMPARE(sweep(words("--out") << one).exitCode, 0);
            const Answer answer = mpirun(words("-n 2"), QStringLiteral("1536"), words("--out") << two);
            QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
            QVERIFY(answer.out.starts_with("360 rows: "));
            QVERIFY(bytesOf(one) == bytesOf(two));
        }
        const Answer refused = mpirun(words("-n 2"), QStringLiteral("1536"), words("--out rows.txt"));
        QCOMPARE(refused.exitCode, 2);
        QCOMPARE(refused.err.count(QLatin1String("rows.txt")), 1); // not once a rank
    }

    void aRankThatIsKilledLeavesAFileToGoOnWith()
    {
        if (!hasMpi())
            QSKIP("There is no trainyard-sweep or no mpirun on this machine: nothing runs over MPI.");
        const QString whole = file(QStringLiteral("whole.csv")), killed = file(QStringLiteral("killed.csv"));
        QCOMPARE(sweepMany(words("--out") << whole).exitCode, 0);
        // mpirun ends the job, and names the rank. On a busy machine it may do so when rank 0 has written all: again.
        for (int attempt = 0; attempt == 0 || (attempt < 5 && bytesOf(killed) == bytesOf(whole)); ++attempt) {
            QFile::remove(killed);
            const Answer answer = mpirun(words("-n 2"), kManyBatches, words("--out") << killed, killed);
            QVERIFY(answer.exitCode != 0);
            QVERIFY2(answer.err.contains(QLatin1String("rank 1")), qPrintable(answer.err));
        }
        QVERIFY(bytesOf(killed).size() < bytesOf(whole).size());
        const Answer resumed = mpirun(words("-n 2"), kManyBatches, words("--resume --out") << killed);
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.err));
        QVERIFY(bytesOf(killed) == bytesOf(whole));
    }

    void ofARankThatIsLostOthersDoTheRows()
    {
        if (!hasMpi())
            QSKIP("There is no trainyard-sweep or no mpirun on this machine: nothing runs over MPI.");
        const QString whole = file(QStringLiteral("whole.csv")), killed = file(QStringLiteral("killed.csv"));
        QCOMPARE(sweepMany(words("--out") << whole, kMostBatches).exitCode, 0);
        const Answer answer =
            mpirun(words("-n 2 --enable-recovery"), kMostBatches, words("--lost-after 2 --out") << killed, killed);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY2(answer.err.contains(QLatin1String("rank 1 is lost")), qPrintable(answer.err));
        QVERIFY(bytesOf(killed) == bytesOf(whole));
    }

private:
    QString file(const QString &name) const { return m_folder->filePath(name); }

    static Answer sweep(const QStringList &arguments)
    {
        return run(QStringList { QStringLiteral("sweep"), kPlan } + sweptKeys() + arguments);
    }

    static Answer sweepMany(const QStringList &arguments, const QString &batches = kManyBatches)
    {
        return run(QStringList { QStringLiteral("sweep"), kPlan } + sweptKeys(batches) + arguments);
    }

    static QString sweepProgram()
    {
        return QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath(QStringLiteral("trainyard-sweep"));
    }
    static bool hasMpi()
    {
        // Of Open MPI: the arguments below are its own.
        QProcess version;
        version.start(QStringLiteral("mpirun"), { QStringLiteral("--version") });
        return QFile::exists(sweepProgram()) && version.waitForFinished()
            && version.readAllStandardOutput().contains("Open MPI");
    }

    /// Where `killedAt` names the file of rows, rank 1 is killed without a word once there are some.
    Answer mpirun(const QStringList &options, const QString &batches, const QStringList &arguments,
        const QString &killedAt = {}) const
    {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char *name : { "OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM" })
            environment.insert(QLatin1String(name), QStringLiteral("1"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder->path());
        // Each rank tells its process by a file, so that one of them can be killed.
        const QString told = QStringLiteral("echo $$ > pid.$OMPI_COMM_WORLD_RANK; exec \"$0\" \"$@\"");
        process.start(QStringLiteral("mpirun"),
            words("--oversubscribe --bind-to none") + options
                + QStringList { QStringLiteral("bash"), QStringLiteral("-c"), told, sweepProgram(), kPlan }
                + sweptKeys(batches) + arguments);
        QElapsedTimer waited;
        waited.start();
        while (!killedAt.isEmpty() && waited.elapsed() < 60'000 && process.state() != QProcess::NotRunning) {
            if (bytesOf(killedAt).count('\n') > 100) {
                ::kill(bytesOf(file(QStringLiteral("pid.1"))).trimmed().toInt(), SIGKILL);
                break;
            }
            process.waitForFinished(2);
        }
        return answerOf(process);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_GUILESS_TEST(TstSweep)
#include "tst_sweep.moc"

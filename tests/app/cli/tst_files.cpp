// SPDX-License-Identifier: GPL-3.0-or-later
// What the program does to files: what it reads, up to which bound, what it writes and never destroys, what it leaves
// behind when it is stopped, and how what others wrote is shown.
#include "tests/app/cli/program.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

using nlohmann::json;
using namespace trainyard::test;

namespace {

json smallPlan()
{
    return json::parse(R"({ "format": "trainyard.plan", "version": 1, "name": "small",
      "cluster": { "datacenters": [ { "id": "a", "pools": [ { "id": "p", "gpu": "a100-sxm-80gb", "nodes": 1, "gpus_per_node": 2 } ] } ] },
      "workload": { "model": "gpt-3-1.3b", "sequence_length": 2048, "global_batch": 4 }, "parallelism": { "pipeline": 2, "data": 1 } })");
}

QByteArray bytes(const json &value)
{
    return QByteArray::fromStdString(value.dump());
}

} // namespace

class TstFiles : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void anOutputNeverReplacesWhatIsRead_data()
    {
        QTest::addColumn<QString>("command");
        QTest::newRow("export") << QStringLiteral("export --to csv --out");
        QTest::newRow("fit") << QStringLiteral("fit --out");
        QTest::newRow("trace") << QStringLiteral("evaluate --trace");
        QTest::newRow("timeline") << QStringLiteral("evaluate --timeline");
    }

    void anOutputNeverReplacesWhatIsRead()
    {
        QFETCH(QString, command);
        const QString path = plan();
        QVERIFY(QFile::link(path, file("link.json")));
        QCOMPARE(::link(path.toLocal8Bit().constData(), file("hard.json").toLocal8Bit().constData()), 0);
        for (const QString &same : { path, file("link.json"), file("hard.json"),
                 m_folder->path() + QStringLiteral("/./../") + QDir(m_folder->path()).dirName()
                     + QStringLiteral("/plan.json") }) {
            const Answer answer = run(command.split(u' ') << same << path);
            QVERIFY2(answer.exitCode == 2, qPrintable(same + QStringLiteral(": ") + answer.err));
            QVERIFY2(answer.err.contains(QLatin1String("would overwrite")) && answer.err.contains(path),
                qPrintable(answer.err));
            QCOMPARE(read(path), bytes(smallPlan()));
        }
    }

    void anOutputNeverReplacesWhatThePlanNames()
    {
        json named = smallPlan();
        named["workload"]["model"] = "config.json";
        const QByteArray config = read(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/hf_configs/dense_llama.json"));
        write("config.json", config);
        write("plan.json", bytes(named));
        const Answer answer = run(words("export --to csv --out") << file("config.json") << file("plan.json"));
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("would overwrite")), qPrintable(answer.err));
        QCOMPARE(read(file("config.json")), config);
    }

    /// A plan that is written into another folder names the files that it named.
    void aPlanWrittenElsewhereStillFindsItsModel_data()
    {
        QTest::addColumn<QString>("command");
        QTest::newRow("optimize") << QStringLiteral("optimize --seconds 5 --out");
        QTest::newRow("fit") << QStringLiteral("fit --out");
    }

    void aPlanWrittenElsewhereStillFindsItsModel()
    {
        QFETCH(QString, command);
        json named = smallPlan();
        named["workload"]["model"] = "config.json";
        write("config.json", read(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/hf_configs/dense_llama.json")));
        write("plan.json", bytes(named));
        QVERIFY(QDir(m_folder->path()).mkpath(QStringLiteral("other/deep")));
        const QString out = file("other/deep/best.json");
        const Answer made = run(command.split(u' ') << out << file("plan.json"));
        QVERIFY2(made.exitCode == 0, qPrintable(made.err));
        QCOMPARE(json::parse(read(out).toStdString())["workload"]["model"], "../../config.json");
        const Answer again = run(words("evaluate") << out);
        QVERIFY2(again.exitCode == 0, qPrintable(again.err));
    }

    void aReportIsReadLikeThePlanInIt()
    {
        // evaluate(report(plan)) = evaluate(plan), also where the plan names a file that is gone by then.
        json named = smallPlan();
        named["workload"]["model"] = "config.json";
        write("config.json", read(QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/data/hf_configs/dense_llama.json")));
        write("plan.json", bytes(named));
        const auto iteration = [](const Answer &answer) {
            return json::parse(answer.out)["iteration_time_s"].get<double>();
        };
        const double before = iteration(run(words("evaluate --format json") << file("plan.json")));
        QCOMPARE(run(words("report --out") << file("report.html") << file("plan.json")).exitCode, 0);
        QVERIFY(QFile::remove(file("config.json")));
        const Answer again = run(words("evaluate --format json") << file("report.html"));
        QVERIFY2(again.exitCode == 0, qPrintable(again.err));
        QCOMPARE(iteration(again), before);
        write("page.html", "<html>no plan</html>");
        const Answer none = run(words("evaluate") << file("page.html"));
        QCOMPARE(none.exitCode, 2);
        QVERIFY2(none.err.contains(QLatin1String("holds no plan")), qPrintable(none.err));
    }

    void aPdfIsMadeByTheProgramWithTheWindow()
    {
        const Answer answer = run(words("report --out") << file("report.pdf") << plan());
        if (!QFile::exists(QFileInfo(QStringLiteral(TRAINYARD_CLI)).dir().filePath(QStringLiteral("trainyard")))) {
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(answer.err.contains(QLatin1String("not beside trainyard-cli")), qPrintable(answer.err));
            return;
        }
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(read(file("report.pdf")).startsWith("%PDF-"));
        QCOMPARE(run(words("evaluate --format json") << file("report.pdf")).exitCode, 0);
        QCOMPARE(run(words("report --out") << file("no/such/report.pdf") << plan()).exitCode, 2);
    }

    void twoOutputsAreTwoFiles()
    {
        const Answer answer =
            run(words("evaluate --trace") << file("out") << QStringLiteral("--timeline") << file("out") << plan());
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QLatin1String("what --trace writes")), qPrintable(answer.err));
        QVERIFY(!QFile::exists(file("out")));
        // Standard output that goes to a file is an output too.
        const Answer printed =
            shell(QStringLiteral("\"$0\" evaluate --trace \"$1\" \"$2\" > \"$1\""), { file("both"), plan() });
        QCOMPARE(printed.exitCode, 2);
        QVERIFY2(printed.err.contains(QLatin1String("standard output")), qPrintable(printed.err));
        const QString nothing = linkTo("/dev/null");
        QCOMPARE(
            run(words("evaluate --trace") << nothing << QStringLiteral("--timeline") << nothing << plan()).exitCode, 0);
    }

    void whatIsNoFileIsWrittenThrough()
    {
        const QString path = plan();
        const std::string table = run(words("export --to csv") << path).out;
        QVERIFY(table.starts_with("datacenter,"));
        QCOMPARE(run(words("export --to csv --out") << linkTo("/dev/stdout") << path).out, table);
        QCOMPARE(shell(QStringLiteral("\"$0\" export --to csv --out \"$3\" \"$1\" > \"$2\"; cat \"$2\""),
                     { path, file("redirected"), linkTo("/dev/stdout") })
                     .out,
            table);
        QCOMPARE(shell(QStringLiteral("mkfifo \"$3\"; \"$0\" export --to csv --out >(cat > \"$2\"; : > \"$3\") \"$1\"; "
                                      "read < \"$3\"; cat \"$2\""), // the pipe tells that all has gone through
                     { path, file("through"), file("over") })
                     .out,
            table);
        QCOMPARE(
            shell(QStringLiteral(
                      "mkfifo \"$2\"; cat \"$2\" & \"$0\" export --to csv --out \"$2\" \"$1\"; wait; test -p \"$2\""),
                { path, file("pipe") })
                .out,
            table);
        QCOMPARE(run(words("export --to csv --out") << linkTo("/dev/full") << path).exitCode, 2);
    }

    void whatIsReadMayBeAPipeOnTheCommandLine()
    {
        const std::string direct = run(words("export --to csv") << plan()).out;
        QCOMPARE(shell(QStringLiteral("\"$0\" export --to csv <(cat \"$1\")"), { plan() }).out, direct);
        QCOMPARE(run(words("export --to csv -"), bytes(smallPlan())).out, direct);
        QCOMPARE(run(words("export --to csv /dev/stdin"), bytes(smallPlan())).out, direct);
    }

    void inputsWithoutEndAreRefusedWithTheBound_data()
    {
        QTest::addColumn<QString>("script");
        QTest::newRow("plan") << QStringLiteral("\"$0\" evaluate /dev/zero");
        QTest::newRow("stdin") << QStringLiteral("\"$0\" evaluate - < /dev/zero");
        QTest::newRow("piped") << QStringLiteral("yes | \"$0\" evaluate -");
        QTest::newRow("rows") << QStringLiteral("\"$0\" validate --rows /dev/zero");
    }

    void inputsWithoutEndAreRefusedWithTheBound()
    {
        QFETCH(QString, script);
        // 2 GB of address space: before the bound, memory ended first.
        const Answer answer = shell(QStringLiteral("ulimit -v 2000000; ") + script);
        QVERIFY2(answer.exitCode == 2, qPrintable(answer.err));
        QVERIFY2(answer.err.contains(QLatin1String("longer than 16 MiB")), qPrintable(answer.err));
    }

    void filesThatAPlanNamesMustBeFiles()
    {
        QCOMPARE(::mkfifo(file("pipe.json").toLocal8Bit().constData(), 0600), 0);
        for (const char *model : { "pipe.json", "/dev/zero", "/proc/self/mem" }) {
            json named = smallPlan();
            named["workload"]["model"] = model;
            const Answer answer = run(words("evaluate") << write("named.json", bytes(named)));
            QVERIFY2(answer.exitCode == 2, qPrintable(QLatin1String(model) + QStringLiteral(": ") + answer.err));
        }
        QCOMPARE(run(words("evaluate /proc/self/mem")).exitCode, 2);
        QCOMPARE(run(words("evaluate") << m_folder->path()).exitCode, 2);
    }

    void aFaultOfTheInputIsNeverAnInternalOne()
    {
        json named = smallPlan();
        named["workload"]["model"] = "config.json";
        const QString path = write("named.json", bytes(named));
        for (const std::string &config : { std::string(R"({"num_hidden_layers": 1e400})"),
                 "{\"a\":" + std::string(60'000, '[') + std::string(60'000, ']') + "}", std::string("\xff\xfe") }) {
            write("config.json", QByteArray::fromStdString(config));
            const Answer answer = run(words("evaluate") << path);
            QVERIFY2(answer.exitCode == 2, qPrintable(answer.err));
            QVERIFY2(answer.err.startsWith(file("config.json")), qPrintable(answer.err));
        }
        const Answer bad = shell(QStringLiteral("\"$0\" evaluate --set $'calibration.x=\\xff' \"$1\""), { plan() });
        QCOMPARE(bad.exitCode, 2);
        QVERIFY2(bad.err.contains(QLatin1String("UTF-8")), qPrintable(bad.err));
    }

    void errorsOfFitNameTheFile()
    {
        json wrong = smallPlan();
        wrong["workload"]["model"] = "no-such-model";
        const QString path = write("wrong.json", bytes(wrong));
        const Answer answer = run(words("fit") << path);
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.startsWith(path + QStringLiteral(": /workload/model: ")), qPrintable(answer.err));
    }

    void namesDoNotReachTheTerminalAsCommands()
    {
        json hostile = smallPlan();
        const std::string name = "=\x1b[2J\x07\u009b31m\u202e\nplan";
        hostile["name"] = name;
        hostile["cluster"]["datacenters"][0]["id"] = name;
        hostile["cluster"]["datacenters"][0]["pools"][0]["nodes"] = 2; // some stay idle, and are told
        const QString path = write("hostile.json", bytes(hostile)), other = plan();
        for (const QStringList &arguments :
            { words("evaluate") << path, words("compare") << other << path, words("explain") << path,
                words("fit") << path, words("evaluate --set workload.global_batch=-1") << path,
                words("evaluate --set workload.model=x\x1b[1m") << path, words("evaluate --\x1b[1m") << path,
                words("\x1b[1m"), words("evaluate \x1b[1m.json") }) {
            const Answer answer = run(arguments);
            const std::string all = answer.out + answer.err.toStdString();
            QVERIFY2(all.find('\x1b') == std::string::npos && all.find('\x07') == std::string::npos
                    && all.find("\u009b") == std::string::npos && all.find("\u202e") == std::string::npos,
                all.c_str());
        }
        // JSON keeps the name as it is, with its own escapes; a spreadsheet sees no formula.
        QCOMPARE(json::parse(run(words("evaluate --format json") << path).out)["name"].get<std::string>(), name);
        QVERIFY(run(words("compare --format csv") << other << path).out.find("\n\"'=") != std::string::npos);
    }

    void aLineAboutAFaultIsShort()
    {
        json hostile = smallPlan();
        hostile["workload"]["model"] = std::string(1'000'000, 'm');
        hostile["stack"] = { { "base", "megatron-core" }, { std::string(1'000'000, 'k'), 1 } };
        for (const char *command : { "evaluate", "fit" }) {
            const Answer answer = run({ QLatin1String(command), write("long.json", bytes(hostile)) });
            QCOMPARE(answer.exitCode, 2);
            for (const QString &line : answer.err.split(u'\n'))
                QVERIFY2(line.size() < 1500, qPrintable(QString::number(line.size())));
        }
        QVERIFY(run({ QStringLiteral("evaluate"), QString(100'000, u'x') }).err.size() < 2000);
    }

    void aStoppedProgramLeavesNothingBehind_data()
    {
        QTest::addColumn<int>("number");
        QTest::newRow("Ctrl-C") << SIGINT;
        QTest::newRow("terminated") << SIGTERM;
        QTest::newRow("hung up") << SIGHUP;
        QTest::newRow("killed") << SIGKILL;
    }

    /// The table goes to a file, the trace before it waits for a reader of a pipe: by then the table's file is not
    /// there, and while a large export is written nothing is seen of it.
    void aStoppedProgramLeavesNothingBehind()
    {
        QFETCH(int, number);
        json large = smallPlan();
        large["workload"]["global_batch"] = 200'000;
        const QString path = write("large.json", bytes(large));
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("out")));
        for (const qint64 written : { 0, 1, 1 << 20, 4 << 20, 16 << 20, 48 << 20 }) {
            QProcess process;
            process.start(QStringLiteral(TRAINYARD_CLI),
                words("export --to chrome-trace --out") << file("out/trace.json") << path);
            QVERIFY(process.waitForStarted());
            if (!hasCounted(process, "wchar", written))
                break; // done: the file is whole
            ::kill(pid_t(process.processId()), number);
            QVERIFY(process.waitForFinished(10'000));
            // It ended by the signal, as shells expect, or all was done the moment before: then the file must be there,
            // whole.
            const bool wasDone = process.exitStatus() == QProcess::NormalExit;
            if (wasDone) {
                QCOMPARE(process.exitCode(), 0);
                QVERIFY(QFile::exists(file("out/trace.json")));
            }
            const QStringList left = QDir(file("out")).entryList(QDir::Files | QDir::Hidden);
            if (left
                == QStringList { QStringLiteral("trace.json") }) { // written and named the moment before: it is whole
                QFile trace(file("out/trace.json"));
                QVERIFY(trace.open(QIODevice::ReadOnly) && trace.seek(std::max<qint64>(0, trace.size() - 16)));
                const QByteArray end = trace.readAll().trimmed();
                QVERIFY2(end.endsWith('}') || end.endsWith(']'), end.constData());
                break;
            }
            QCOMPARE(left, QStringList());
        }
    }

    /// The search hears Ctrl-C wherever it is: what it has is printed, and nothing is written.
    void fitEndsAtCtrlC()
    {
        const QString sample = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/gpt3-offload-a100-40gb.trainyard.json");
        QProcess process;
        process.start(QStringLiteral(TRAINYARD_CLI),
            words("fit --set workload.global_batch=4096 --set workload.sequence_length=16384 --out")
                << file("fits.json") << sample);
        QVERIFY(process.waitForStarted());
        const auto listens = [&] { // for Ctrl-C, on a thread of its own
            QFile status(QStringLiteral("/proc/%1/status").arg(process.processId()));
            return status.open(QIODevice::ReadOnly) && status.readAll().contains("Threads:\t2");
        };
        QVERIFY(QTest::qWaitFor(listens, 30'000));
        ::kill(pid_t(process.processId()), SIGINT);
        const Answer answer = answerOf(process);
        QVERIFY2(answer.exitCode == 130, qPrintable(QString::number(answer.exitCode) + answer.err));
        QVERIFY(!QFile::exists(file("fits.json")));
    }

private:
    [[nodiscard]] QString file(const char *name) const { return m_folder->filePath(QLatin1String(name)); }
    /// Of a device, so that a program that replaces what it should not replaces only the link.
    [[nodiscard]] QString linkTo(const char *device) const
    {
        const QString link = file("link-to-") + QFileInfo(QLatin1String(device)).fileName();
        QFile::link(QLatin1String(device), link);
        return link;
    }
    QString write(const char *name, const QByteArray &content) const
    {
        QFile out(file(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size())
            qFatal("cannot write %s", name);
        return out.fileName();
    }
    QString plan() const { return write("plan.json", bytes(smallPlan())); }
    static QByteArray read(const QString &path)
    {
        QFile in(path);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TstFiles)
#include "tst_files.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/tensorboard.h"
#include "tests/core/runs/telemetry/read_text.h"
#include "tests/support/own_inputs.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

using namespace trainyard;
using namespace trainyard::tests;

namespace {

template <class T> std::string bytesOf(T value)
{
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
}

std::string varint(std::uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
        bytes.push_back(static_cast<char>(value | 0x80));
    bytes.push_back(static_cast<char>(value));
    return bytes;
}

std::string field(unsigned number, const std::string &bytes)
{
    return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string frame(const std::string &data)
{
    const std::string size = bytesOf(std::uint64_t(data.size()));
    return size + bytesOf(readers::maskedCrc32c(size)) + data + bytesOf(readers::maskedCrc32c(data));
}

std::string eventOf(double time, std::int64_t step, const std::string &values)
{
    return frame(
        std::string("\x09") + bytesOf(time) + "\x10" + varint(static_cast<std::uint64_t>(step)) + field(5, values));
}

std::string scalar(const std::string &tag, float value)
{
    return field(1, field(1, tag) + "\x15" + bytesOf(value));
}

const std::string kVersion = frame(std::string("\x09") + bytesOf(1.7e9) + "\x1a" + varint(13) + "brain.Event:2");

std::string item(const std::string &key, const std::string &json)
{
    return field(1, key) + field(16, json);
}

/// One record of a .wandb file, cut where its block ends.
void addRecord(std::string &file, const std::string &data)
{
    std::size_t at = 0;
    bool isFirst = true;
    do {
        std::size_t left = 32768 - file.size() % 32768;
        if (left < 7) {
            file.append(left, '\0');
            left = 32768;
        }
        const std::size_t size = std::min(left - 7, data.size() - at);
        const bool isLast = at + size == data.size();
        const auto kind = static_cast<unsigned char>(isFirst ? (isLast ? 1 : 2) : isLast ? 4 : 3);
        const auto crc = crc32(crc32(0, &kind, 1), reinterpret_cast<const Bytef *>(data.data() + at), uInt(size));
        file += bytesOf(std::uint32_t(crc)) + bytesOf(std::uint16_t(size)) + static_cast<char>(kind)
            + data.substr(at, size);
        at += size;
        isFirst = false;
    } while (at < data.size());
}

std::string wandbFile()
{
    std::string file = std::string(":W&B") + "\xe1\xbe" + std::string(1, '\0');
    addRecord(
        file, field(17, field(1, "abc123") + field(4, field(1, item("learning_rate", "0.0003"))) + field(13, "node7")));
    for (int step = 0; step < 3; ++step) {
        const std::string stamp = "17000000" + std::to_string(10 + 2 * step) + ".5";
        addRecord(file,
            field(2,
                field(1, item("train/loss", std::to_string(5 - step))) + field(1, item("_step", std::to_string(step)))
                    + field(1, item("_timestamp", stamp)) + field(1, item("nan", "NaN"))
                    + field(1, item("big", '"' + std::string(40000, 'x') + '"'))));
        addRecord(file,
            field(7,
                field(2, "\x08" + varint(1700000010u + 2u * unsigned(step)))
                    + field(3, item("gpu.1.powerWatts", "512.5")) + field(3, item("gpu.1.gpu", "97"))
                    + field(3, item("network", "{\"sent\": " + std::to_string(1000 * step) + ", \"recv\": 0}"))));
    }
    return file;
}

} // namespace

class TestExperimentFiles : public QObject {
    Q_OBJECT

private slots:
    void everyCapturedFileIsReadWithItsFigures_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("series");
        QTest::addColumn<qint64>("at");
        QTest::addColumn<double>("value");
        const auto add = [](const std::string &path, const char *file, SourceKind kind, const char *series, qint64 at,
                             double value) {
            QTest::addRow("%s %s %lld", file, series, at)
                << QString::fromStdString(path) << int(kind) << series << at << value;
        };
        const auto own = [&](const char *file, SourceKind kind, const char *series, qint64 at, double value) {
            add(ownInput(std::string("formats/") + file), ("own " + std::string(file)).c_str(), kind, series, at,
                value);
        };
        const char *events = "tensorboard/events.out.tfevents.1770000000.lab", *run = "wandb/run-lab.wandb";
        own("misc/golden_values.json", SourceKind::MegatronGoldenValues, "step_time", 2, 2.5);
        own("misc/golden_values.json", SourceKind::MegatronGoldenValues, "loss", 4, 9.75);
        own("misc/golden_values.json", SourceKind::MegatronGoldenValues, "memory_allocated", 1, 1073741824);
        own(events, SourceKind::TensorBoardEvents, "log.batch_loss", 0, 4);
        own(events, SourceKind::TensorBoardEvents, "log.batch_loss", 20, 3);
        own(events, SourceKind::TensorBoardEvents, "log.took", 30, 2);
        own(run, SourceKind::WandbFile, "log.cpu", 0, 12.5);
        own(run, SourceKind::WandbFile, "log.memory", 0, 40.25);
        own(run, SourceKind::WandbFile, "loss", 2, 2);
        const auto row = [&](const char *file, SourceKind kind, const char *series, qint64 at, double value) {
            if (const std::string path = std::string("formats/") + file; isShared(path))
                add(sharedInput(path), file, kind, series, at, value);
        };
        const char *golden = "misc/golden_values_dev_dgx_h100.json",
                   *keras = "tensorboard/events.out.tfevents.1585769947.cvp",
                   *rnnt = "tensorboard/events.out.tfevents.1683859779.mlperf1.328.1",
                   *wandb = "wandb/run-g9dvvkua.wandb";
        row(golden, SourceKind::MegatronGoldenValues, "step_time", 2, 8.43974);
        row(golden, SourceKind::MegatronGoldenValues, "loss", 50, 9.56861);
        row(golden, SourceKind::MegatronGoldenValues, "memory_allocated", 4, 3125675520);
        row(keras, SourceKind::TensorBoardEvents, "log.batch_loss", 0, 3.9135773181915283);
        row(keras, SourceKind::TensorBoardEvents, "log.epoch_val_loss", 16, 2.932505594799295e-05);
        row(rnnt, SourceKind::TensorBoardEvents, "log.wer", 363, 99.90625);
        row(rnnt, SourceKind::TensorBoardEvents, "log.wer", 19911, 5.738759517669678);
        row(rnnt, SourceKind::TensorBoardEvents, "log.took", 363, 1.0042402744293213);
        row(wandb, SourceKind::WandbFile, "log.cpu", 0, 24.3);
        row(wandb, SourceKind::WandbFile, "log.memory", 0, 49.55);
        row(wandb, SourceKind::WandbFile, "log.network.sent", 0, 260096);
    }
    void everyCapturedFileIsReadWithItsFigures()
    {
        QFETCH(QString, file);
        QFETCH(int, kind);
        QFETCH(QString, series);
        QFETCH(qint64, at);
        QFETCH(double, value);
        const auto recording = readSource(file.toStdString(), {});
        QVERIFY(recording);
        QCOMPARE(int(recording->sources.front().kind), kind);
        QVERIFY(isSound(*recording) && !recording->sources.front().isTruncated);
        QCOMPARE(valueAt(*recording, series.toStdString(), at), value);
    }

    void everyCapturedFileOpensWhereverItIsCut()
    {
        namespace fs = std::filesystem;
        int files = 0;
        for (const char *name : { "formats/logs", "formats/tensorboard", "formats/wandb" })
            for (const std::string &folder : inputs(name))
                for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
                    const auto file = openSource(entry.path().string(), {});
                    QVERIFY(file);
                    const std::string text(file->text.text);
                    ++files;
                    for (std::size_t percent = 0; percent <= 100; ++percent) {
                        const Recording part =
                            readText(text.substr(0, text.size() * percent / 100), entry.path().filename());
                        QVERIFY(!part.sources.front().refused.empty() || isSound(part));
                    }
                    const Recording whole = readText(text, entry.path().filename());
                    QVERIFY(whole.sources.front().refused.empty() && whole.sources.front().taken > 0);
                }
        QVERIFY(files >= 11);
    }

    void scalarsOfTensorBoardBecomeSeriesAndMegatronsTextsArguments()
    {
        const std::string tensor = field(8, "\x08\x01" + field(4, bytesOf(2.5f)));
        const std::string text = field(8, "\x08\x07" + field(8, "8"));
        const std::string file = kVersion
            + eventOf(1.7e9, 1, scalar("lm loss", 4.5f) + scalar("lm loss vs samples", 4.5f))
            + eventOf(1.7e9 + 3, 2, scalar("lm loss", 4.25f) + scalar("forward-backward-time", 0.5f))
            + eventOf(1.7e9, 2, field(1, field(1, "throughput") + tensor))
            + eventOf(1.7e9, 0, field(1, field(1, "world_size/text_summary") + text));
        const Recording recording = readText(file, "events.out.tfevents.1.a");
        QVERIFY(isSound(recording));
        QCOMPARE(valueAt(recording, "loss", 2), 4.25);
        QCOMPARE(valueAt(recording, "timer.forward-backward", 2), 0.5);
        QCOMPARE(valueAt(recording, "tflops_per_gpu", 2), 2.5);
        QCOMPARE(valueAt(recording, "step_time", 2), 3.0); // between the moments of two losses
        QCOMPARE(recording.arguments.at("world_size"), std::string("8"));
        QCOMPARE(droppedOf(recording, "over samples"), 1);
    }

    void aRecordThatFailsItsChecksumIsPassedOver()
    {
        std::string file = kVersion + eventOf(1.7e9, 1, scalar("loss", 4)) + eventOf(1.7e9, 2, scalar("loss", 3));
        file[kVersion.size() + 40] ^= 1;
        const Recording recording = readText(file, "a");
        QCOMPARE(droppedOf(recording, "checksum"), 1);
        QCOMPARE(valueAt(recording, "loss", 2), 3.0);
        QVERIFY(std::isnan(valueAt(recording, "loss", 1)));
    }

    void cutFilesAreReadToTheLastWholeRecord()
    {
        std::string events = kVersion;
        for (int step = 1; step <= 20; ++step)
            events += eventOf(1.7e9 + step, step, scalar("loss", float(step)));
        for (std::size_t size = 0; size <= events.size(); ++size) {
            const Recording recording = readText(events.substr(0, size), "events.out.tfevents.1.a");
            const std::size_t each = (events.size() - kVersion.size()) / 20;
            const SampleSeries *loss = seriesOf(recording, "loss");
            QCOMPARE(loss ? loss->at.size() : 0, size < kVersion.size() ? 0 : (size - kVersion.size()) / each);
        }
        const std::string wandb = wandbFile();
        for (std::size_t percent = 1; percent < 100; ++percent) {
            const Recording recording = readText(wandb.substr(0, wandb.size() * percent / 100), "run-a.wandb");
            QVERIFY(isSound(recording));
        }
    }

    void wandbsRecordsGoOverBlocks()
    {
        const Recording recording = readText(wandbFile(), "run-a.wandb");
        QVERIFY(isSound(recording) && !recording.sources.front().isTruncated);
        QCOMPARE(valueAt(recording, "loss", 2), 3.0);
        QCOMPARE(recording.arguments.at("learning_rate"), std::string("0.0003"));
        const auto power = std::ranges::find(recording.series, "power", &SampleSeries::name);
        QVERIFY(power != recording.series.end());
        QCOMPARE(power->where, std::string("node7/gpu1"));
        QCOMPARE(power->value.front(), 512.5);
        QCOMPARE(power->at[1] - power->at[0], Moment(2'000'000'000));
        const auto out = std::ranges::find(recording.series, "network_out", &SampleSeries::name);
        QCOMPARE(out->value.front(), 500.0); // 1000 B in 2 s
    }

    void aTrainersStateMayHoldNoNumbers()
    {
        const std::string text =
            "{\n \"best_metric\": null,\n \"global_step\": 20, \"log_history\": [\n  {\"epoch\": 0.1, \"loss\": 2.5, "
            "\"grad_norm\": NaN, \"learning_rate\": 1e-05, \"step\": 10},\n  {\"epoch\": 0.2, \"loss\": 2.25, "
            "\"step\": 20},\n  {\"epoch\": 0.2, \"train_runtime\": 40.0, \"train_steps_per_second\": 0.5, \"step\": "
            "20}\n ],\n \"total_flos\": 1.5e+18\n}\n";
        const Recording recording = readText(text, "trainer_state.json");
        QCOMPARE(recording.sources.front().kind, SourceKind::HfTrainerState);
        QCOMPARE(valueAt(recording, "loss", 20), 2.25);
        QCOMPARE(valueAt(recording, "step_time", 20), 2.0);
        QVERIFY(seriesOf(recording, "grad_norm") && std::isnan(valueAt(recording, "grad_norm", 10)));
        QCOMPARE(recording.arguments.at("total_flos"), std::string("1.5e+18"));
        for (std::size_t size = 0; size < text.size(); ++size) {
            const Recording part = readText(text.substr(0, size), "trainer_state.json");
            const double loss = valueAt(part, "loss", 10);
            QVERIFY(std::isnan(loss) || loss == 2.5);
        }
    }

    void goldenValuesOfAllYearsAreRead()
    {
        const Recording recording = readText(
            R"({"lm loss": {"start_step": 0, "end_step": 10, "step_interval": 5, "values": [10.5, "nan", 9.5]}, "iteration_timing_avg": 0.25})",
            "a.json");
        QCOMPARE(valueAt(recording, "loss", 10), 9.5);
        QVERIFY(std::isnan(valueAt(recording, "loss", 5)));
        QCOMPARE(valueAt(recording, "log.iteration_timing_avg", 0), 0.25);
    }

    void tablesAndSummariesAreRead()
    {
        QCOMPARE(valueAt(readText("step,Train_Samples_train_loss\n10,2.5\n20,2.25\n", "a.csv"), "loss", 20), 2.25);
        const Recording table = readText(
            "\"Step\",\"a, run - train/loss\",\"a, run - train/loss__MIN\"\n1,2.5,2.4\n2,\"2.25\",2\n", "b.csv");
        QCOMPARE(table.sources.front().kind, SourceKind::WandbFile);
        QCOMPARE(valueAt(table, "loss", 2), 2.25);
        const Recording summary = readText(
            R"({"_step": 99, "_runtime": 12.5, "train/loss": 1.5, "system": {"watts": 300}})", "wandb-summary.json");
        QCOMPARE(valueAt(summary, "loss", 99), 1.5);
        QCOMPARE(valueAt(summary, "log.system.watts", 99), 300.0);
    }

    void theConfigurationOfARunIsItsArguments()
    {
        const Recording recording =
            readText("wandb_version: 1\n\n_wandb:\n  desc: null\n  value:\n    python_version: 3.11\n"
                     "learning_rate:\n  desc: null\n  value: 0.0003\nmodel:\n  value:\n    layers: 32\n"
                     "    name: 'llama'\n",
                "config.yaml");
        QCOMPARE(recording.sources.front().kind, SourceKind::WandbFile);
        QCOMPARE(recording.arguments.size(), std::size_t(3));
        QCOMPARE(recording.arguments.at("learning_rate"), std::string("0.0003"));
        QCOMPARE(recording.arguments.at("model.layers"), std::string("32"));
        QCOMPARE(recording.arguments.at("model.name"), std::string("llama"));
    }

    void theLaterEventFileOfAFolderGoesOnFromWhereItStarts()
    {
        QTemporaryDir folder;
        const auto write = [&](const char *name, const std::string &bytes) {
            std::ofstream(folder.filePath(name).toStdString(), std::ios::binary) << bytes;
        };
        write("events.out.tfevents.100.a.1.0",
            kVersion + eventOf(1.7e9, 1, scalar("loss", 5)) + eventOf(1.7e9, 2, scalar("loss", 4))
                + eventOf(1.7e9, 3, scalar("loss", 3)) + eventOf(1.7e9, 3, scalar("only", 1)));
        write("events.out.tfevents.200.a.1.0",
            kVersion + eventOf(1.7e9 + 9, 2, scalar("loss", 4.5)) + eventOf(1.7e9 + 10, 4, scalar("loss", 2.5)));
        const auto recording = readSources({ folder.path().toStdString() }, {}, 1);
        QVERIFY(recording);
        QCOMPARE(std::ranges::count(recording->series, std::string("loss"), &SampleSeries::name), 1);
        QCOMPARE(seriesOf(*recording, "loss")->at, (std::vector<Moment> { 1, 2, 4 }));
        QCOMPARE(seriesOf(*recording, "loss")->value, (std::vector<double> { 5, 4.5, 2.5 }));
        QCOMPARE(valueAt(*recording, "log.only", 3), 1.0);
    }

    void changedBytesHurtNothing()
    {
        std::mt19937_64 random(19);
        const std::string events =
            kVersion + eventOf(1.7e9, 1, scalar("lm loss", 4.5f)) + eventOf(1.7e9, 2, scalar("lm loss", 4.5f));
        const std::string golden =
            R"({"lm loss": {"start_step": 0, "step_interval": 5, "values": {"1": 10.5, "2": "nan"}}})";
        const std::string table = "step,loss\n10,2.5\n20,2.25\n";
        const std::string wandb = wandbFile().substr(0, 300);
        for (int i = 0; i < 3000; ++i)
            for (const std::string &text : { events, golden, table, wandb }) {
                const Recording recording = readText(mutated(text, random), "events.out.tfevents.1.a");
                QVERIFY(!recording.sources.front().refused.empty() || isSound(recording));
            }
    }
};

TRAINYARD_APPLESS_TEST(TestExperimentFiles)
#include "tst_experiment_files.moc"

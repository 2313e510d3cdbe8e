// SPDX-License-Identifier: GPL-3.0-or-later
// What a tool prints is the same under every launcher: each small text of every reader is read with each prefix in
// front of its lines, and has to give the recording that it gives alone. A time in a prefix is another thing: of a log
// it is the moment of its lines.
#include "core/base/printable.h"
#include "core/runs/telemetry/recording_file.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <set>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::vector<std::string> kPrefixes { "[rank0]:", "[default0]:", "0: ", "[1,0]<stdout>:", "[pod/trainer-0/main] ",
    "(RayTrainWorker pid=7, ip=10.0.0.1) ", "\x1b[36m(main pid=7)\x1b[0m ", "trainer-1  | ", "i.pretrain/0 ",
    "pretrain/0 [default0]:", "0: [rank0]:" };
const std::string kTimed = "2024-05-01T12:00:00.123456789Z ";

std::string under(const std::string &prefix, std::string_view text)
{
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        made.append(prefix).append(text.substr(at, end - at));
        at = end;
    }
    return made;
}

/// All that a recording holds, NaN as null; the bytes of the file apart, which a prefix adds to.
std::string told(Recording recording)
{
    for (RecordedSource &source : recording.sources)
        source.bytes = 0;
    return formatRecording(recording).value_or("");
}

struct Input {
    std::string name, text;
    Recording alone;
};

/// The small texts of all readers that are read when they stand alone.
const std::vector<Input> &inputs()
{
    static const std::vector<Input> all = [] {
        std::vector<Input> made;
        for (const char *folder : { "/tests/fuzz/seeds", "/tests/data/formats" })
            for (const auto &entry :
                std::filesystem::recursive_directory_iterator(std::string(TRAINYARD_SOURCE_DIR) + folder)) {
                if (!entry.is_regular_file())
                    continue;
                std::string text = bytesOf(entry.path().string());
                const std::string name = entry.path().filename().string();
                Recording alone = read(name, text);
                const bool isText = text.find('\0') == text.npos && isUtf8(text);
                if (isText && alone.sources.at(0).refused.empty())
                    made.push_back({ name, std::move(text), std::move(alone) });
            }
        return made;
    }();
    return all;
}

bool isLog(SourceKind kind)
{
    return kind == SourceKind::MegatronLog || kind == SourceKind::TorchtitanLog || kind == SourceKind::DeepSpeedLog
        || kind == SourceKind::NemoLog || kind == SourceKind::HfTrainerLog || kind == SourceKind::MlperfLog;
}

} // namespace

class TestLauncherPrefixes : public QObject {
    Q_OBJECT

private slots:
    void everyTextIsReadUnderEveryPrefixAsItIsAlone()
    {
        std::set<SourceKind> kinds;
        for (const Input &input : inputs()) {
            const SourceKind kind = input.alone.sources[0].kind;
            const std::string alone = told(input.alone);
            QVERIFY(!alone.empty());
            for (const std::string &prefix : kPrefixes)
                QVERIFY2(told(read(input.name, under(prefix, input.text))) == alone,
                    (input.name + " under " + prefix).c_str());
            kinds.insert(kind);
        }
        QVERIFY2(kinds.size() >= 25, std::to_string(kinds.size()).c_str());
    }

    void aTimeBeforeEachLineChangesNothingOfWhatIsNoLog()
    {
        for (const Input &input : inputs())
            if (!isLog(input.alone.sources[0].kind))
                QVERIFY2(told(read(input.name, under(kTimed, input.text))) == told(input.alone), input.name.c_str());
    }

    void theTimeOfAPrefixIsWhenALineOfALogWasPrinted()
    {
        // DeepSpeed's line has no time of its own here: 12:00:01, 12:00:03 and 12:00:05 are told by kubectl.
        std::string text;
        for (int step = 1; step <= 3; ++step)
            text += "2024-05-01T12:00:0" + std::to_string(2 * step - 1) + ".000000000Z [rank0]: iteration        "
                + std::to_string(step)
                + "/     100 | consumed samples:           64 | learning rate: 1.0E-04 | global batch size:    64 | "
                  "lm loss: 1.000000E+01 | loss scale: 1.0 |\n";
        const Recording r = read("run.log", text);
        QCOMPARE(r.sources.at(0).kind, SourceKind::MegatronLog);
        const SampleSeries *ended = seriesOf(r, samples::kStepEnded, "");
        QVERIFY(ended && ended->at.size() == 3);
        QCOMPARE(r.zero + ended->at[0], Moment(1'714'564'801) * 1'000'000'000);
        QCOMPARE(ended->at[2] - ended->at[0], Moment(4) * 1'000'000'000);
    }

    void whatOnlyLooksLikeAPrefixStays()
    {
        // a word before a bar without a number is no service; a key of YAML that is a number no rank
        QCOMPARE(read("a.log", "worker | iteration 1\n").sources.at(0).refused,
            read("a.log", "another | iteration 1\n").sources.at(0).refused);
        const Recording r = read("args.yaml",
            "model:\n  0: 5\n  hidden-size: 64\n  num-layers: 2\n  num-attention-heads: 4\n  micro-batch-size: 1\n");
        QVERIFY(r.sources.at(0).refused.empty());
        QVERIFY(!r.arguments.contains("model."));
    }
};

TRAINYARD_APPLESS_TEST(TestLauncherPrefixes)
#include "tst_launcher_prefixes.moc"

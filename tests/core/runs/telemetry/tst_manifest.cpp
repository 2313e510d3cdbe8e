// SPDX-License-Identifier: GPL-3.0-or-later
// Every file of a format and every trace, ours (tests/data) against the manifest beside them and the captured ones,
// where they are, against manifest.json beside this file: what it is, whether it is read, belongs to a plan or is
// refused with which sentence, and figures of it that were counted without our readers (by Python's json and struct
// modules, awk, HTA, or by eye where it has few lines; each says how).

#include "core/facts/catalogue/parse.h"
#include "core/facts/workload/model_math.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/telemetry/recording_figures.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace trainyard;
using namespace trainyard::tests;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A folder with the folders "formats" and "traces", and what is known of each file in them.
struct Inputs {
    std::string root;
    Json manifest;
    std::vector<std::string> files; // as the manifest names them
};

Inputs inputsIn(const std::string &root, const std::string &manifest)
{
    std::ifstream file(TRAINYARD_SOURCE_DIR "/tests/" + manifest);
    Inputs found { root, Json::parse(file, nullptr, false), {} };
    for (const char *folder : { "/formats", "/traces" })
        if (fs::is_directory(root + folder))
            for (const auto &entry : fs::recursive_directory_iterator(root + folder))
                if (entry.is_regular_file())
                    found.files.push_back(entry.path().string().substr(root.size() + 1));
    std::ranges::sort(found.files);
    return found;
}

/// What a model is, too, as the catalogue reads its config.json.
Figures allFigures(const Recording &recording)
{
    Figures made = figuresOf(recording);
    for (const RecordedModel &recorded : recording.models)
        if (const auto model = parseHuggingFaceConfig(recorded.config, recorded.name)) {
            made["model layers"] = model->layers;
            made["model hidden"] = model->hidden;
            made["model vocabulary"] = model->vocab;
            made["model experts"] = model->experts;
            made["model parameters"] = totalParameters(*model);
        } else {
            made["models whose plan is refused"] += 1;
        }
    return made;
}

bool isEqual(double told, double counted, double within)
{
    return std::abs(told - counted) <= within * std::abs(counted);
}

/// What is wrong with the answer about one file; empty: nothing.
std::string faultOf(const Json &entry, const Recording &recording)
{
    const RecordedSource &source = recording.sources.at(0);
    if (nameOf(source.kind) != entry.at("kind").get<std::string>())
        return std::string("it is taken for a ") + nameOf(source.kind);
    if (source.refused != entry.value("refused", std::string()))
        return "it is refused: " + source.refused;
    const Figures figures = allFigures(recording);
    for (const Json &oracle : entry.value("oracle", Json::array())) {
        const std::string name = oracle.at("figure");
        const double counted = oracle.at("value");
        const auto told = figures.find(name);
        if (told == figures.end())
            return "there is no " + name;
        if (!isEqual(told->second, counted, oracle.value("within", 1e-9)))
            return name + " is " + std::to_string(told->second) + ", counted were " + std::to_string(counted);
    }
    return {};
}

} // namespace

class TestManifest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase()
    {
        m_all.push_back(inputsIn(TRAINYARD_SOURCE_DIR "/tests/data", "data/manifest.json"));
        QVERIFY(m_all[0].files.size() > 60);
        if (Inputs captured = inputsIn(TRAINYARD_SHARED_DIR, "core/runs/telemetry/manifest.json");
            !captured.files.empty())
            m_all.push_back(std::move(captured));
        for (const Inputs &inputs : m_all)
            QVERIFY(inputs.manifest.is_object());
    }

    void everyFileIsInTheManifestAndTheOtherWayRound()
    {
        for (const Inputs &inputs : m_all) {
            for (const std::string &file : inputs.files)
                QVERIFY2(inputs.manifest.contains(file), file.c_str());
            for (const auto &[file, entry] : inputs.manifest.items())
                QVERIFY2(std::ranges::binary_search(inputs.files, file), file.c_str());
        }
    }

    void everyEntryHasTwoFiguresOrItsRefusal()
    {
        for (const Inputs &inputs : m_all)
            for (const auto &[file, entry] : inputs.manifest.items()) {
                const std::string action = entry.at("action");
                const bool isRefused = action == "refused";
                QVERIFY2(isRefused || action == "read" || action == "import", file.c_str());
                QVERIFY2(isRefused == entry.contains("refused"), file.c_str());
                QVERIFY2(isRefused || entry.at("oracle").size() >= 2, file.c_str());
                for (const Json &oracle : entry.value("oracle", Json::array()))
                    QVERIFY2(!oracle.at("counted").get<std::string>().empty(), file.c_str());
            }
    }

    void everyFileIsReadOrRefusedAsTheManifestSays()
    {
        int faults = 0;
        for (const Inputs &inputs : m_all)
            for (const std::string &file : inputs.files) {
                const auto recording = readSource(inputs.root + "/" + file, {});
                QVERIFY2(recording.has_value(), file.c_str());
                if (const std::string fault = faultOf(inputs.manifest.at(file), *recording); !fault.empty()) {
                    qWarning("%s: %s", file.c_str(), fault.c_str());
                    ++faults;
                }
            }
        QCOMPARE(faults, 0);
    }

    void allOfThemAtOnceAreOneRecording()
    {
        for (const Inputs &inputs : m_all)
            isOneRecording(inputs);
    }

private:
    // sums over the one recording = sums over the files, whatever is read by several threads
    static void isOneRecording(const Inputs &inputs)
    {
        double spans = 0, collectives = 0, points = 0;
        std::size_t ranks = 0;
        for (const std::string &file : inputs.files) {
            const auto one = readSource(inputs.root + "/" + file, {});
            spans += static_cast<double>(one->spanCount());
            points += static_cast<double>(one->benchmarks.size());
            ranks += one->ranks.size();
            for (const RankRecording &rank : one->ranks)
                collectives += static_cast<double>(rank.collectives.size());
        }
        double last = 0;
        SourcesProgress progress { [&](std::size_t, std::size_t, double share) { last = share; } };
        const auto recording = readSources({ inputs.root + "/formats", inputs.root + "/traces" }, {}, 4, progress);
        QVERIFY(recording.has_value());
        QCOMPARE(recording->sources.size(), inputs.files.size());
        QCOMPARE(recording->ranks.size(), ranks);
        QCOMPARE(last, 1.0);
        const Figures figures = figuresOf(*recording);
        QVERIFY(spans > 0 && collectives > 0 && points > 0);
        QCOMPARE(figures.at("spans"), spans);
        QCOMPARE(figures.at("collectives"), collectives);
        QCOMPARE(figures.at("points"), points);
        for (std::size_t i = 1; i < recording->ranks.size(); ++i) // those without a rank last
            QVERIFY(recording->ranks[i].rank < 0 || recording->ranks[i - 1].rank <= recording->ranks[i].rank);
        for (const RankRecording &rank : recording->ranks) {
            QVERIFY(rank.source < recording->sources.size());
            for (const RecordedCollective &one : rank.collectives)
                QVERIFY(one.operation < recording->names.size()
                    && (one.group == kNoIndex || one.group < recording->groups.size()));
        }
        for (const RecordedSource &source : recording->sources) {
            const std::string file = source.file.substr(inputs.root.size() + 1);
            QVERIFY2(inputs.manifest.contains(file), source.file.c_str());
            QCOMPARE(source.refused, inputs.manifest.at(file).value("refused", std::string()));
        }
    }

    std::vector<Inputs> m_all;
};

TRAINYARD_GUILESS_TEST(TestManifest)
#include "tst_manifest.moc"

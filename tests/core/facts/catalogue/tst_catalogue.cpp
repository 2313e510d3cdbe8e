// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/catalogue/embedded_files.h"
#include "core/facts/catalogue/parse.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <fstream>
#include <sstream>

using namespace trainyard;

class CatalogueTest : public QObject {
    Q_OBJECT

private slots:
    void everyGpuOfTheContractIsThereWithRealFigures();
    void everyFigureOfAGpuNamesItsSource();
    void embeddedFilesEqualTheFilesOfTheRepository();
    void aFolderLoadsToTheSameCatalogue();
    void aFigureWithoutASourceIsRefused();
    void aMisspeltNameFindsItsNeighbour_data();
    void aMisspeltNameFindsItsNeighbour();
    void idealAddsNothingOfItsOwn();
    void regionLinksJoinKnownRegions();
    void releasesOfAStackAreListedFromTheOldest();
    void aReleaseOfNoStackAndOneGivenTwiceAreRefused();
};

namespace {

const char *const kGpuIds[] = { "p40-24gb", "p100-pcie-16gb", "v100-sxm-16gb", "v100-sxm-32gb", "t4-16gb", "a10g-24gb",
    "l4-24gb", "a6000-48gb", "l40s-48gb", "rtx-3090-24gb", "rtx-4090-24gb", "a100-sxm-40gb", "a100-pcie-40gb",
    "a100-sxm-80gb", "a100-pcie-80gb", "a800-sxm-80gb", "h100-sxm-80gb", "h100-pcie-80gb", "h800-sxm-80gb",
    "h200-sxm-141gb", "gh200-96gb", "b200-sxm-180gb", "gb200-186gb", "b300-sxm-270gb", "gb300-278gb", "mi250x-128gb",
    "mi300x-192gb", "h20-sxm-96gb", "rtx-5090-32gb", "l20-48gb", "a40-48gb", "mi325x-256gb", "mi350x-288gb",
    "mi355x-288gb", "ascend-910b-64gb", "ascend-910c-128gb" };

std::string fileText(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The size that an id ends in: 80 of "a100-sxm-80gb".
double gigabytesOfId(const std::string &id)
{
    const auto dash = id.rfind('-');
    return std::stod(id.substr(dash + 1));
}

} // namespace

void CatalogueTest::everyGpuOfTheContractIsThereWithRealFigures()
{
    for (const char *id : kGpuIds) {
        const GpuSpec *gpu = builtinCatalogue().gpu(id);
        QVERIFY2(gpu, id);
        QVERIFY2(gpu->peakFlops(Precision::Bf16) >= 5e12, id);
        QVERIFY2(gpu->peakFlops(Precision::Bf16) >= gpu->peakFlops(Precision::Fp32), id);
        // what the driver reports lies below the round number of the id, in GB or in GiB
        const double bytes = static_cast<double>(gpu->memoryBytes);
        QVERIFY2(bytes > 0.95e9 * gigabytesOfId(id) && bytes < 1.08e9 * gigabytesOfId(id), id);
        QVERIFY2(gpu->memoryGBps > 250 && gpu->pcieGBps > 10 && gpu->tdpWatts > 50 && gpu->usdPerHour > 0, id);
        QVERIFY2(!gpu->name.empty() && !gpu->vendor.empty() && !gpu->architecture.empty(), id);
    }
}

void CatalogueTest::everyFigureOfAGpuNamesItsSource()
{
    for (const GpuSpec &gpu : builtinCatalogue().gpus) {
        for (const char *key : { "memory_gib", "memory_gbytes_per_s", "link_gbytes_per_s", "pcie_gbytes_per_s",
                 "fabric_gbps", "tdp_watts", "usd_per_hour", "multiprocessors", "link_domain", "peak_tflops.fp32" }) {
            QVERIFY2(gpu.sources.contains(key), (gpu.id + " " + key).c_str());
            QVERIFY2(
                gpu.sources.at(key).find(", 20") != std::string::npos, (gpu.id + " " + key + " has no date").c_str());
        }
    }
}

void CatalogueTest::embeddedFilesEqualTheFilesOfTheRepository()
{
    QVERIFY(embeddedCatalogueFiles().size() >= 5);
    for (const EmbeddedFile &file : embeddedCatalogueFiles()) {
        const std::string onDisk =
            fileText(std::string(TRAINYARD_SOURCE_DIR "/resources/catalog/") + std::string(file.name));
        QVERIFY2(!onDisk.empty(), std::string(file.name).c_str());
        QVERIFY2(file.text == onDisk, std::string(file.name).c_str());
    }
}

void CatalogueTest::aFolderLoadsToTheSameCatalogue()
{
    const auto loaded = loadCatalogue(TRAINYARD_SOURCE_DIR "/resources/catalog");
    QVERIFY(loaded.has_value());
    QVERIFY(loaded->gpus == builtinCatalogue().gpus);
    QVERIFY(loaded->models == builtinCatalogue().models);
    QVERIFY(loaded->stacks == builtinCatalogue().stacks);
}

void CatalogueTest::aFigureWithoutASourceIsRefused()
{
    QTemporaryDir folder;
    const QString from = TRAINYARD_SOURCE_DIR "/resources/catalog/";
    for (const QString &name : QDir(from).entryList({ "*.json" }))
        QVERIFY(QFile::copy(from + name, folder.filePath(name)));
    std::string text = fileText((from + "gpus.json").toStdString());
    text.replace(text.find("[346, \"nvidia-p40\"]"), 19, "346");
    text.replace(text.find("[732, \"nvidia-p100\"]"), 20, "[732, \"nvidia-p10\"]");
    QFile::remove(folder.filePath("gpus.json"));
    std::ofstream(folder.filePath("gpus.json").toStdString()) << text;

    const auto loaded = loadCatalogue(folder.path().toStdString());
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().size(), std::size_t { 2 });
    QCOMPARE(toString(loaded.error()[0]),
        "gpus.json: /gpus/0/memory_gbytes_per_s: memory_gbytes_per_s is 346; expected [number, \"source id\"]");
    QVERIFY(loaded.error()[1].right.find("perhaps \"nvidia-p100\"") != std::string::npos);
}

void CatalogueTest::aMisspeltNameFindsItsNeighbour_data()
{
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("meant");
    QTest::newRow("one letter") << "h100-sxm-80g"
                                << "h100-sxm-80gb";
    QTest::newRow("case and separator") << "H100_SXM_80GB"
                                        << "h100-sxm-80gb";
    QTest::newRow("beginning") << "mi300x"
                               << "mi300x-192gb";
    QTest::newRow("nothing near") << "abacus"
                                  << "";
}

void CatalogueTest::aMisspeltNameFindsItsNeighbour()
{
    QFETCH(QString, typed);
    QFETCH(QString, meant);
    QCOMPARE(
        QString::fromStdString(nearestName(typed.toStdString(), { std::begin(kGpuIds), std::end(kGpuIds) })), meant);
}

void CatalogueTest::idealAddsNothingOfItsOwn()
{
    const StackSpec *ideal = builtinCatalogue().stack("ideal");
    QVERIFY(ideal);
    QCOMPARE(ideal->hostUsPerKernel + ideal->iterationOverheadMs, 0.0);
    QCOMPARE(ideal->contextBytes + ideal->communicatorBytes + ideal->workspaceBytes, 0.0);
    QCOMPARE(ideal->fragmentation, 1.0);
    QVERIFY(ideal->flashAttention && !ideal->storesDropoutMasks);
    for (const char *name :
        { "megatron-core", "megatron-lm-2021", "megatron-lm-2022", "megatron-deepspeed", "fsdp", "deepspeed" })
        QVERIFY2(builtinCatalogue().stack(name), name);
}

void CatalogueTest::regionLinksJoinKnownRegions()
{
    QVERIFY(!builtinCatalogue().regionLinks.empty());
    for (const RegionLink &link : builtinCatalogue().regionLinks) {
        QVERIFY2(builtinCatalogue().region(link.from) && builtinCatalogue().region(link.to), link.from.c_str());
        QVERIFY2(link.rttMs > 1 && link.rttMs < 300 && !link.source.empty(), link.from.c_str());
    }
}

void CatalogueTest::releasesOfAStackAreListedFromTheOldest()
{
    const StackSpec *stack = builtinCatalogue().stack("megatron-core");
    QVERIFY(stack && stack->releases.size() >= 2);
    for (std::size_t i = 1; i < stack->releases.size(); ++i)
        QVERIFY2(stack->releases[i - 1].id < stack->releases[i].id, stack->releases[i].id.c_str()); // two digits each
    QVERIFY(stack->release(stack->releases.back().id) == &stack->releases.back());
    QVERIFY(!stack->release("99.99"));
    QVERIFY(builtinCatalogue().stack("ideal")->releases.empty());
}

void CatalogueTest::aReleaseOfNoStackAndOneGivenTwiceAreRefused()
{
    QTemporaryDir folder;
    const QString from = TRAINYARD_SOURCE_DIR "/resources/catalog/";
    for (const QString &name : QDir(from).entryList({ "*.json" }))
        QVERIFY(QFile::copy(from + name, folder.filePath(name)));
    QFile::remove(folder.filePath("stack_releases.json"));
    const std::string entry =
        R"("release": "1.0", "dense": [1, "s"], "dense_plans": 2, "experts": [1, "s"], "expert_plans": 0})";
    std::ofstream(folder.filePath("stack_releases.json").toStdString())
        << R"({"sources": {"s": {"title": "t", "date": "2026"}}, "releases": [{"stack": "fsdp", )" << entry
        << R"(, {"stack": "fsdp", )" << entry << R"(, {"stack": "fdsp", )" << entry << "]}";
    const auto loaded = loadCatalogue(folder.path().toStdString());
    QVERIFY(!loaded.has_value());
    QCOMPARE(loaded.error().size(), std::size_t { 2 });
    QCOMPARE(loaded.error()[0].what, std::string("release 1.0 of fsdp is given twice"));
    QCOMPARE(loaded.error()[1].what, std::string("no stack has the id \"fdsp\""));
}

TRAINYARD_APPLESS_TEST(CatalogueTest)
#include "tst_catalogue.moc"

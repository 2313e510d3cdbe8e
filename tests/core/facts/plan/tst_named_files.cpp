// SPDX-License-Identifier: GPL-3.0-or-later
// A plan that is written into another folder leads to the files that it led to before.
#include "core/facts/plan/named_files.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace trainyard;

namespace {

Plan namingFiles(const std::string &folder)
{
    Plan plan;
    plan.baseDir = folder;
    plan.workload.model = "config.json";
    plan.bubbleFill.model = "models/served/config.json";
    plan.bubbleFill.served.resize(1);
    plan.bubbleFill.served[0].model = "models/a/config.json";
    plan.bubbleFill.trace = "../requests.csv";
    plan.jobs.resize(2);
    plan.jobs[0].model = "llama-3-8b"; // of the catalogue
    plan.jobs[1].model = "models/a";
    plan.jobGrid.emplace();
    plan.jobGrid->model = { "config.json", "gpt-3-1.3b", "/etc/absolute.json" };
    return plan;
}

QString canonical(const Plan &plan, const std::string &name)
{
    const QFileInfo file(QString::fromStdString(fileOf(plan, name).string()));
    return file.dir().canonicalPath() + u'/' + file.fileName();
}

} // namespace

class TestNamedFiles : public QObject {
    Q_OBJECT

private slots:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        for (const char *made : { "plans/models/served", "plans/models/a", "other/deep", "link-target/inside" })
            QVERIFY(QDir(m_folder->path()).mkpath(made));
        QVERIFY(QFile::link(path("link-target/inside"), path("other/link")));
    }

    void everyKeyLeadsToTheSameFileFromEveryFolder_data()
    {
        QTest::addColumn<QString>("folder");
        for (const char *folder : { "plans", "plans/models", "other", "other/deep", "other/link", "." })
            QTest::newRow(folder) << folder;
    }

    void everyKeyLeadsToTheSameFileFromEveryFolder()
    {
        QFETCH(QString, folder);
        const Plan plan = namingFiles(path("plans").toStdString());
        const std::string file = path(folder + "/x.trainyard.json").toStdString();
        QVERIFY(writePlan(plan, file));
        const auto moved = readPlan(file);
        QVERIFY(moved);
        const std::vector<std::string> before = namesOfFiles(plan), after = namesOfFiles(*moved);
        QCOMPARE(before.size(), std::size_t(7)); // the grid's absolute one too
        QCOMPARE(after.size(), before.size());
        for (std::size_t i = 0; i < before.size(); ++i)
            QCOMPARE(canonical(*moved, after[i]), canonical(plan, before[i]));
        QCOMPARE(moved->jobs[0].model, plan.jobs[0].model);
        QCOMPARE(moved->jobGrid->model[1], plan.jobGrid->model[1]);
        QCOMPARE(moved->jobGrid->model[2], plan.jobGrid->model[2]);
    }

    void inItsOwnFolderNothingIsNamedAnew()
    {
        const Plan plan = namingFiles(path("plans").toStdString());
        QVERIFY(rebased(plan, path("plans/../plans").toStdString()).bubbleFill == plan.bubbleFill);
        QCOMPARE(rebased(plan, plan.baseDir).workload.model, plan.workload.model);
    }

    /// Without a folder of its own a plan is seen from the current one.
    void aPlanOfNoFileNamesFilesFromTheCurrentFolder()
    {
        Plan plan = namingFiles({});
        const Plan moved = rebased(plan, path("other").toStdString());
        QCOMPARE(canonical(moved, moved.workload.model), QDir::current().canonicalPath() + "/config.json");
    }

private:
    [[nodiscard]] QString path(const QString &name) const { return m_folder->filePath(name); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

TRAINYARD_APPLESS_TEST(TestNamedFiles)
#include "tst_named_files.moc"

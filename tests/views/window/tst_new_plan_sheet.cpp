// SPDX-License-Identifier: GPL-3.0-or-later
// A new plan on one sheet, as someone makes it who has only the keyboard: what is typed goes to whatever has the focus.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/evaluation/advice/run_pool.h"
#include "tests/support/painted.h"
#include "views/parts/text_line.h"
#include "views/start/choice_field.h"
#include "views/start/new_plan_sheet.h"

#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QScopeGuard>
#include <QScrollArea>
#include <QSpinBox>
#include <QStackedWidget>

#include <atomic>
#include <memory>

using namespace trainyard;

namespace {

QWidget *focus()
{
    return QApplication::focusWidget();
}

void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    QTest::keyClick(focus(), Qt::Key(key), modifiers);
}

void type(const QString &text)
{
    QTest::keyClicks(focus(), text);
}

/// Tab until a field of this name has the focus; false where a round leads past none.
bool tabTo(const QString &name)
{
    for (int i = 0; i < 60; ++i) {
        auto *button = qobject_cast<QPushButton *>(focus());
        if (focus() && (focus()->accessibleName() == name || (button && button->text().remove(u'&') == name)))
            return true;
        press(Qt::Key_Tab);
    }
    return false;
}

QString config(WindowFixture &f)
{
    const QString folder = f.folder.filePath("our-model");
    QDir().mkpath(folder);
    QFile file(folder + "/config.json");
    [[maybe_unused]] const bool isOpen = file.open(QIODevice::WriteOnly);
    file.write(R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 36, "num_attention_heads": 32,
                   "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})");
    return file.fileName();
}

template <class Widget> Widget *named(QWidget &in, const QString &name)
{
    for (Widget *widget : in.findChildren<Widget *>()) {
        if (widget->accessibleName() == name)
            return widget;
    }
    return nullptr;
}

QPushButton *createButton(QWidget &sheet)
{
    QPushButton *create = nullptr;
    for (auto *button : sheet.findChildren<QPushButton *>())
        create = button->text() == "Create plan" ? button : create;
    return create;
}

struct Sheet : WindowFixture {
    Sheet()
    {
        QApplication::setActiveWindow(&window);
        QTest::keyClick(&window, Qt::Key_N, Qt::ControlModifier);
    }
    NewPlanSheet &sheet() { return *window.newPlan(); }
    QString previewText() { return sheet().findChild<TextLine *>("preview")->text(); }
    bool isShown() { return window.newPlan() && window.newPlan()->isVisible(); }
};

} // namespace

class NewPlanSheetTest : public QObject {
    Q_OBJECT
private slots:
    void twoRegionsAndAnOwnModelByKeyboard()
    {
        Sheet f;
        QVERIFY(f.isShown());
        f.answers.config = config(f);
        // The first region is ready to be typed over; Tab takes the first match.
        QTRY_VERIFY(focus() && focus()->accessibleName() == "Region 1");
        type("virginia aws");
        press(Qt::Key_Tab);
        type("h200");
        press(Qt::Key_Tab);
        type("6");
        QVERIFY(tabTo("Add region"));
        press(Qt::Key_Return);
        QTRY_COMPARE(focus()->accessibleName(), QStringLiteral("Region 2"));
        type("aws oregon");
        if (const QString to = qEnvironmentVariable("TRAINYARD_PICTURES"); !to.isEmpty())
            f.window.grab().save(to + "/new-plan-matches.png");
        press(Qt::Key_Return);
        QVERIFY(tabTo("From config.json…"));
        press(Qt::Key_Space);
        QTRY_VERIFY(f.sheet().given().ownModel);
        QTRY_VERIFY_WITH_TIMEOUT(f.previewText().contains("per iteration"), 30000);
        // 6 · 8 + 6 · 8 GPUs: the second region begins as a copy of the first.
        QVERIFY2(f.previewText().contains("96 GPUs"), qPrintable(f.previewText()));
        if (const QString to = qEnvironmentVariable("TRAINYARD_PICTURES"); !to.isEmpty()) {
            f.window.grab().save(to + "/new-plan.png");
            f.window.resize(1280, 720);
            test::untilPainted(f.sheet());
            f.window.grab().save(to + "/new-plan-1280.png");
        }
        press(Qt::Key_Return, Qt::ControlModifier);
        QTRY_COMPARE_WITH_TIMEOUT(f.document.plan()->cluster.datacenters.size(), std::size_t(2), 30000);
        const Plan &plan = *f.document.plan();
        QCOMPARE(plan.cluster.datacenters[0].id, std::string("aws-us-east-1"));
        QCOMPARE(plan.cluster.datacenters[1].id, std::string("aws-us-west-2"));
        QCOMPARE(plan.cluster.datacenters[0].pools[0].gpu, std::string("h200-sxm-141gb"));
        QCOMPARE(plan.cluster.wanLinks.size(), std::size_t(1));
        QCOMPARE(plan.cluster.wanLinks[0].rttMs, 60.0); // aws-us-east-1 – aws-us-west-2 in the catalogue
        QCOMPARE(plan.workload.inlineModel->layers, 36);
        QVERIFY(f.document.path().isEmpty());
        QVERIFY(f.document.isModified()); // it is in the window alone
        // The workbench shows it, and it runs.
        QVERIFY(!f.isShown());
        f.settle();
        QVERIFY(f.bridge.evaluation()->feasible());
    }
    void escapeLeavesEverythingAsItWas()
    {
        Sheet f;
        const PlanPtr before = f.document.plan();
        type("tokyo");
        press(Qt::Key_Escape); // the matches first
        QVERIFY(f.isShown());
        press(Qt::Key_Escape);
        QVERIFY(!f.isShown());
        QCOMPARE(f.document.plan(), before);
    }
    void aNameOfOnesOwnIsASiteOfOnesOwn()
    {
        Sheet f;
        type("Our lab");
        auto *field = named<ChoiceField>(f.sheet(), "Region 1");
        QVERIFY(field->list().isVisible());
        // No region has both words: the only answer is the site.
        QCOMPARE(field->list().count(), 1);
        press(Qt::Key_Tab);
        QCOMPARE(f.sheet().given().sites[0].region, std::string());
        QCOMPARE(f.sheet().given().sites[0].name, QStringLiteral("Our lab"));
    }
    void arrowsAndPointerChooseOtherMatches()
    {
        Sheet f;
        auto *field = named<ChoiceField>(f.sheet(), "Region 1");
        type("tokyo");
        QVERIFY(field->list().count() >= 3); // one of each provider, and the site
        press(Qt::Key_Down);
        const QString second = field->list().item(1)->text();
        press(Qt::Key_Return);
        QCOMPARE(field->text(), second);
        field->selectAll();
        type("tokyo");
        const QString first = field->list().item(0)->text();
        QTest::mouseClick(
            field->list().viewport(), Qt::LeftButton, {}, field->list().visualItemRect(field->list().item(0)).center());
        QCOMPARE(field->text(), first);
        QVERIFY(!field->list().isVisible());
    }
    void aClickTakesTheWholeFieldAndWhatMatchesNothingIsSaid()
    {
        Sheet f;
        auto *gpu = named<ChoiceField>(f.sheet(), "GPU type of region 1");
        QTest::mouseClick(gpu, Qt::LeftButton);
        type("a100 80");
        QCOMPARE(gpu->text(), QStringLiteral("a100 80"));
        press(Qt::Key_Return);
        QVERIFY2(gpu->text().contains("A100"), qPrintable(gpu->text()));
        const QString taken = gpu->text();
        QTest::mouseClick(gpu, Qt::LeftButton);
        type("qqzz");
        QVERIFY(gpu->list().isVisible());
        QCOMPARE(gpu->list().count(), 1);
        QVERIFY(gpu->list().item(0)->text().contains("qqzz"));
        press(Qt::Key_Tab);
        QCOMPARE(gpu->text(), taken); // nothing was chosen
    }
    void theNewestGpusLeadTheList()
    {
        Sheet f;
        auto *gpu = named<ChoiceField>(f.sheet(), "GPU type of region 1");
        QTest::mouseClick(gpu, Qt::LeftButton);
        QVERIFY(gpu->list().isVisible());
        const QString first = gpu->list().item(0)->text();
        QVERIFY2(first.contains("B300") || first.contains("MI35"), qPrintable(first));
        QCOMPARE(gpu->list().count(), int(builtinCatalogue().gpus.size()));
    }
    void aClickThatOnlyLooksAtTheListChangesNothing()
    {
        Sheet f;
        auto *gpu = named<ChoiceField>(f.sheet(), "GPU type of region 1");
        auto *perNode = named<QSpinBox>(f.sheet(), "GPUs per node of region 1");
        perNode->setFocus();
        perNode->selectAll();
        type("3");
        const std::string before = f.sheet().given().sites[0].gpu;
        for (const int key : { Qt::Key_Tab, Qt::Key_Return }) {
            QTest::mouseClick(gpu, Qt::LeftButton);
            QVERIFY(gpu->list().isVisible());
            QCOMPARE(gpu->list().currentItem()->text(), gpu->text());
            press(key);
            QVERIFY(!gpu->list().isVisible());
            QCOMPARE(f.sheet().given().sites[0].gpu, before);
            QCOMPARE(f.sheet().given().sites[0].gpusPerNode, 3); // nor what a new type would set
            gpu->clearFocus();
        }
    }
    void theListStaysBesideItsField()
    {
        Sheet f;
        auto *gpu = named<ChoiceField>(f.sheet(), "GPU type of region 1");
        QTest::mouseClick(gpu, Qt::LeftButton);
        for (const QSize size : { QSize(1100, 700), QSize(1500, 1000) }) {
            f.window.resize(size);
            test::untilPainted(f.sheet());
            QCOMPARE(f.window.size(), size);
            QCOMPARE(gpu->list().pos(), gpu->mapTo(&f.window, QPoint(0, gpu->height() + 2)));
        }
    }
    void aFieldOutlivesItsList()
    {
        QWidget window;
        auto *field = new ChoiceField({ { "a", "Alpha", {} } }, &window);
        window.show();
        QTest::mouseClick(field, Qt::LeftButton);
        delete window.findChild<QListWidget *>(QString(), Qt::FindDirectChildrenOnly);
        delete field; // as where a whole window goes, whose children go in their order
        QVERIFY(window.findChildren<QLineEdit *>().isEmpty());
    }
    void cancellingWhileThePlanIsMadeLeavesTheOpenOne_data()
    {
        QTest::addColumn<int>("key");
        QTest::addColumn<Qt::KeyboardModifiers>("modifiers");
        QTest::newRow("Esc") << int(Qt::Key_Escape) << Qt::KeyboardModifiers();
        QTest::newRow("another plan is opened") << int(Qt::Key_O) << Qt::KeyboardModifiers(Qt::ControlModifier);
    }
    void cancellingWhileThePlanIsMadeLeavesTheOpenOne()
    {
        QFETCH(int, key);
        QFETCH(Qt::KeyboardModifiers, modifiers);
        Sheet f;
        f.answers.open = WindowFixture::samplePath("llama-3-70b-three-regions");
        // All searchers are busy, so that Create waits as long as it ever does.
        const auto isHeld = std::make_shared<std::atomic<bool>>(true);
        const auto release = qScopeGuard([isHeld] {
            *isHeld = false;
            isHeld->notify_all();
        });
        WorkPool &pool = RunPool::shared().threads();
        for (std::size_t i = 1; i < pool.threads(); ++i)
            pool.submit(WorkPool::Rank::Search, [isHeld] { isHeld->wait(true); });
        named<QSpinBox>(f.sheet(), "Nodes of region 1")->setFocus();
        type("1");
        press(Qt::Key_Return, Qt::ControlModifier);
        QVERIFY(f.isShown()); // the search has only begun
        press(key, modifiers);
        QTRY_VERIFY(!f.isShown());
        NewPlanSheet later(builtinCatalogue()); // when this one creates its plan, the first would have
        QSignalSpy created(&later, &NewPlanSheet::created);
        later.start();
        createButton(later)->click();
        QTRY_COMPARE_WITH_TIMEOUT(created.count(), 1, 30000);
        QCOMPARE(f.document.plan()->cluster.datacenters.size(), std::size_t(3));
    }
    void controlEnterTakesTheMatchThatIsShown()
    {
        Sheet f;
        named<ChoiceField>(f.sheet(), "GPU type of region 1")->setFocus();
        type("h200");
        press(Qt::Key_Return, Qt::ControlModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!f.isShown(), 30000);
        QCOMPARE(f.document.plan()->cluster.datacenters[0].pools[0].gpu, std::string("h200-sxm-141gb"));
    }
    void anotherRegionBringsItsOwnRoundTrip()
    {
        Sheet f;
        type("aws ireland");
        press(Qt::Key_Tab);
        QVERIFY(tabTo("Add region"));
        press(Qt::Key_Space);
        type("aws frankfurt");
        press(Qt::Key_Tab);
        QVERIFY(tabTo(QStringLiteral("Round trip AWS Ireland – AWS Frankfurt")));
        type("99");
        QCOMPARE(linksOf(f.sheet().given(), builtinCatalogue())[0].link.rttMs, 99.0);
        named<ChoiceField>(f.sheet(), "Region 1")->setFocus();
        type("virginia aws");
        press(Qt::Key_Tab);
        press(Qt::Key_Tab);
        QCOMPARE(f.sheet().given().sites[0].region, std::string("aws-us-east-1"));
        const auto links = linksOf(f.sheet().given(), builtinCatalogue());
        QVERIFY2(links[0].source.startsWith("Round trip published"), qPrintable(links[0].source));
        QVERIFY(links[0].link.rttMs != 99);
    }
    void aPlanDroppedOnTheSheetIsOpened()
    {
        Sheet f;
        QMimeData data;
        const QString plan = f.folder.filePath("lab.trainyard.json");
        QVERIFY(QFile::copy(WindowFixture::samplePath("mixed-lab"), plan));
        data.setUrls({ QUrl::fromLocalFile(plan) });
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&f.sheet(), &enter);
        QDropEvent dropped(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&f.sheet(), &dropped);
        QTRY_COMPARE(f.document.path(), plan);
        QVERIFY(!f.isShown());
    }
    void everyPairHasALinkWhoseFiguresCanBeTyped()
    {
        Sheet f;
        for (int i = 0; i < 2; ++i) {
            QVERIFY(tabTo("Add region"));
            press(Qt::Key_Space);
            type(i == 0 ? "aws ireland" : "aws frankfurt");
            press(Qt::Key_Tab);
        }
        QVERIFY(tabTo(QStringLiteral("Bandwidth AWS Ireland – AWS Frankfurt")));
        type("400");
        QCOMPARE(f.sheet().given().links.size(), std::size_t(1));
        const auto links = linksOf(f.sheet().given(), builtinCatalogue());
        QCOMPARE(links.size(), std::size_t(3));
        QCOMPARE(links[2].link.capacityGbps, 400.0);
        QCOMPARE(links[2].link.rttMs, 21.0); // published between the two
    }
    void aRegionCanBeLeftOutAgain()
    {
        Sheet f;
        QVERIFY(tabTo("Add region"));
        press(Qt::Key_Space);
        QCOMPARE(f.sheet().given().sites.size(), std::size_t(2));
        QVERIFY(tabTo("Leave region 2 out"));
        press(Qt::Key_Space);
        QCOMPARE(f.sheet().given().sites.size(), std::size_t(1));
        QCOMPARE(focus()->accessibleName(), QStringLiteral("Region 1"));
    }
    void whatIsMissingIsSaidAndNothingIsCreated()
    {
        Sheet f;
        QVERIFY(tabTo("Add region"));
        press(Qt::Key_Space);
        QVERIFY(f.previewText().contains("Choose a region"));
        const PlanPtr before = f.document.plan();
        press(Qt::Key_Return, Qt::ControlModifier);
        QApplication::processEvents();
        QVERIFY(f.isShown());
        type("aws tokyo");
        press(Qt::Key_Tab);
        QVERIFY(createButton(f.sheet())->isEnabled()); // now it is whole; while one is created it would not be
        QCOMPARE(f.document.plan(), before);
    }
    void aConfigDroppedOnTheSheetIsItsModelAndNotThatOfThePlanBehind()
    {
        Sheet f;
        const PlanPtr before = f.document.plan();
        QMimeData data;
        data.setUrls({ QUrl::fromLocalFile(config(f)) });
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&f.sheet(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent dropped(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&f.sheet(), &dropped);
        QTRY_VERIFY(f.sheet().given().ownModel);
        QCOMPARE(named<ChoiceField>(f.sheet(), "Model")->text(), QStringLiteral("our-model"));
        QCOMPARE(f.document.plan(), before);
    }
    void theSheetFitsSmallWindows()
    {
        // 1280×720, and the 1024×640 that a scale of 1.25 leaves of it; the foot with Create is always in sight.
        Sheet f;
        for (int i = 0; i < 3; ++i) {
            QVERIFY(tabTo("Add region"));
            press(Qt::Key_Space);
            type("aws tokyo");
            press(Qt::Key_Tab);
        }
        for (const QSize size : { QSize(1280, 720), QSize(1024, 640) }) {
            f.window.resize(size);
            test::untilPainted(f.sheet());
            const QPushButton *create = createButton(f.sheet());
            QVERIFY(create);
            const QRect place(create->mapTo(&f.window, QPoint()), create->size());
            QVERIFY(QRect(QPoint(), size).contains(place));
            const auto *area = f.sheet().findChild<QScrollArea *>();
            QVERIFY2(area->widget()->minimumSizeHint().width() <= area->viewport()->width(),
                qPrintable(QString::number(area->widget()->minimumSizeHint().width())));
        }
    }
};

TRAINYARD_TEST(NewPlanSheetTest)
#include "tst_new_plan_sheet.moc"

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tests of a folder are one program, tst.<folder>. Each file registers its class here, in place of Qt's main
// functions, and with it the kind of application that it needs; the program runs the one that its first argument names:
//     build/ci/tests/tst.core.iteration.cost core.iteration.cost.gemm [options of Qt Test]
// A test still has a process of its own: ctest starts the program once a name.

#include <QCoreApplication>
#include <QTest>

#include <string>
#include <string_view>

namespace trainyard::tests {

using TestMain = int (*)(int argc, char **argv);

/// "…/tests/core/iteration/cost/tst_gemm.cpp" is "core.iteration.cost.gemm".
std::string testName(std::string_view sourceFile);

/// Enters a test in the list of its program before main() begins.
struct RegisteredTest {
    RegisteredTest(const char *sourceFile, TestMain main);
};

} // namespace trainyard::tests

#define TRAINYARD_REGISTER_TEST(TestObject, ...)                                                                       \
    static const trainyard::tests::RegisteredTest registered##TestObject(__FILE__, [](int argc, char **argv) {         \
        Q_UNUSED(argc)                                                                                                 \
        Q_UNUSED(argv)                                                                                                 \
        __VA_ARGS__                                                                                                    \
        TestObject test;                                                                                               \
        QTEST_SET_MAIN_SOURCE_PATH                                                                                     \
        return QTest::qExec(&test, argc, argv);                                                                        \
    });

/// Without an application: functions and values.
#define TRAINYARD_APPLESS_TEST(TestObject) TRAINYARD_REGISTER_TEST(TestObject)
/// With an event loop and no window.
#define TRAINYARD_GUILESS_TEST(TestObject) TRAINYARD_REGISTER_TEST(TestObject, QTEST_QAPP_SETUP(QCoreApplication))
/// With what the libraries of the program have: a QApplication where they have widgets.
#define TRAINYARD_TEST(TestObject) TRAINYARD_REGISTER_TEST(TestObject, QTEST_MAIN_SETUP())

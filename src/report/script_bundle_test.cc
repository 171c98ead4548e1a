#include "report/script_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/file.h"
#include "base/result.h"

namespace pragma {
namespace {

using ::testing::HasSubstr;

class ScriptBundle : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, text));
  }
  [[nodiscard]] Result<std::string> Bundle() const {
    return BundleScripts(folder_.path(), "start.js");
  }

 private:
  TempDir folder_ = TempDir::Create().value();
};

TEST_F(ScriptBundle, AModuleStandsAfterThoseItImportsAndEachStandsOnce) {
  Put("start.js", "import {b} from './b.js';\nimport {\n  c,\n  d\n} from './c.js';\nb(c, d);\n");
  Put("b.js", "import {c} from './c.js';\nexport function b() {\n  return c;\n}\n");
  Put("c.js", "export const c = 1;\nexport async function d() {}\nconst own = 2;\n");
  EXPECT_EQ(*Bundle(),
            "'use strict';\nconst modules = {};\n"
            "modules['./c.js'] = (function() {\n"
            "const c = 1;\nasync function d() {}\nconst own = 2;\nreturn {c, d};\n})();\n"
            "modules['./b.js'] = (function() {\n"
            "const {c} = modules['./c.js'];\nfunction b() {\n  return c;\n}\nreturn {b};\n})();\n"
            "modules['./start.js'] = (function() {\n"
            "const {b} = modules['./b.js'];\nconst {\n  c,\n  d\n} = modules['./c.js'];\n"
            "b(c, d);\nreturn {};\n})();\n");
}

TEST_F(ScriptBundle, ModulesThatImportEachOtherAreRefused) {
  Put("start.js", "import {b} from './b.js';\n");
  Put("b.js", "import {c} from './c.js';\nexport const b = 1;\n");
  Put("c.js", "import {b} from './b.js';\nexport const c = 1;\n");
  EXPECT_THAT(Bundle().error().message, HasSubstr("b.js is imported by a module that it imports"));
}

TEST_F(ScriptBundle, FormsThatItCannotJoinAreRefused) {
  Put("start.js", "import * as b from './b.js';\n");
  EXPECT_THAT(Bundle().error().message, HasSubstr("import of a form"));
  Put("start.js", "export default 1;\n");
  EXPECT_THAT(Bundle().error().message, HasSubstr("export of a form"));
}

TEST_F(ScriptBundle, AMissingModuleIsNamed) {
  Put("start.js", "import {b} from './gone.js';\n");
  EXPECT_THAT(Bundle().error().message, HasSubstr("gone.js"));
}

TEST_F(ScriptBundle, ALastLineWithoutAnEndIsKept) {
  Put("start.js", "go();");
  EXPECT_THAT(*Bundle(), HasSubstr("go();"));
}

}  // namespace
}  // namespace pragma

// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario files of the LFI article: its Figures, every stock class, every complaint.
#include "scenario-help.h"

static const struct {
    const char *text, *message;
} broken[] = {
    {"<function", "x.xml:1:10: not readable as XML: not well-formed (invalid token)\n"
                  "    <function\n"
                  "             ^"},
    {"<function/>", "x.xml:1:1: <function> needs a name\n"
                    "    <function/>\n"
                    "    ^"},
    {"<functions/>",
     "x.xml:1:1: unknown element <functions> in a scenario (did you mean 'function'?)\n"
     "    <functions/>\n"
     "    ^"},
    {"<scenario><trigger/></scenario>", "x.xml:1:11: <trigger> needs an id\n"
                                        "    <scenario><trigger/></scenario>\n"
                                        "              ^"},
    {"<trigger id='a'/>", "x.xml:1:1: <trigger> needs a class\n"
                          "    <trigger id='a'/>\n"
                          "    ^"},
    {"<trigger id='a' class='Random'/>",
     "x.xml:1:1: RandomTrigger needs <args><probability>...</probability></args>\n"
     "    <trigger id='a' class='Random'/>\n"
     "    ^"},
    {"<trigger id='a' class='Singleton'/>\n"
     "<trigger id='a' class='Singleton'/>",
     "x.xml:2:1: trigger 'a' is declared twice\n"
     "    <trigger id='a' class='Singleton'/>\n"
     "    ^"},
    {"<trigger id='a' klass='Singleton'/>",
     "x.xml:1:1: unknown attribute 'klass' of <trigger> (did you mean 'class'?)\n"
     "    <trigger id='a' klass='Singleton'/>\n"
     "    ^"},
    {"<trigger id='a' class='Random'><args><probability>x</probability></args></trigger>",
     "x.xml:1:38: a probability is a number such as 0.1 or 10%\n"
     "    <trigger id='a' class='Random'><args><probability>x</probability></args></trigger>\n"
     "                                         ^"},
    {"<trigger id='a' class='Random'><args><probability>2</probability></args></trigger>\n"
     "<function name='f' return='0'>\n"
     "  <reftrigger ref='a'/></function>",
     "x.xml:1:1: a probability is between 0 and 1, or a percentage such as 10% (in 'random(2)')\n"
     "    <trigger id='a' class='Random'><args><probability>2</probability></args></trigger>\n"
     "    ^"},
    {"<trigger id='a' class='Random'><arg/></trigger>",
     "x.xml:1:32: <trigger> holds <args> only, not <arg>\n"
     "    <trigger id='a' class='Random'><arg/></trigger>\n"
     "                                   ^"},
    {"<trigger id='a' class='Random'><args/><args/></trigger>",
     "x.xml:1:39: a second <args>\n"
     "    <trigger id='a' class='Random'><args/><args/></trigger>\n"
     "                                          ^"},
    {"<trigger id='a' class='CallCount'/>",
     "x.xml:1:1: CallCountTrigger needs <args><n>...</n></args>\n"
     "    <trigger id='a' class='CallCount'/>\n"
     "    ^"},
    {"<trigger id='a' class='CallCount'><args><n>x</n></args></trigger>",
     "x.xml:1:41: <n> must be a number, not 'x'\n"
     "    <trigger id='a' class='CallCount'><args><n>x</n></args></trigger>\n"
     "                                            ^"},
    {"<trigger id='a' class='CallStack'/>",
     "x.xml:1:1: CallStackTrigger needs <args> with a <frame>\n"
     "    <trigger id='a' class='CallStack'/>\n"
     "    ^"},
    {"<trigger id='a' class='CallStack'><args><frame/></args></trigger>",
     "x.xml:1:41: a frame needs <module> and <offset>, <file> and <line>, or <function>\n"
     "    <trigger id='a' class='CallStack'><args><frame/></args></trigger>\n"
     "                                            ^"},
    {"<trigger id='a' class='CallStack'><args><frame><offset>1</offset></frame></args></trigger>",
     "x.xml:1:48: an <offset> needs a <module>\n"
     "    <trigger id='a' "
     "class='CallStack'><args><frame><offset>1</offset></frame></args></trigger>\n"
     "                                                   ^"},
    {"<trigger id='a' class='CallStack'><args><frame><file>a.c</file></frame></args></trigger>",
     "x.xml:1:41: <file> and <line> go together\n"
     "    <trigger id='a' "
     "class='CallStack'><args><frame><file>a.c</file></frame></args></trigger>\n"
     "                                            ^"},
    {"<trigger id='a' "
     "class='CallStack'><args><frame><function>f</function></frame><x/></args></trigger>",
     "x.xml:1:78: unknown argument <x> of CallStack\n"
     "    <trigger id='a' "
     "class='CallStack'><args><frame><function>f</function></frame><x/></args></trigger>\n"
     "                                                                                 ^"},
    {"<trigger id='a' class='CallStack'><args><frame><fle>f</fle></frame></args></trigger>",
     "x.xml:1:48: unknown argument <fle> of a frame (did you mean 'file'?)\n"
     "    <trigger id='a' class='CallStack'><args><frame><fle>f</fle></frame></args></trigger>\n"
     "                                                   ^"},
    {"<trigger id='a' class='ReadPipe'>\n  <args>\n    <lwo>1024</lwo>\n  </args>\n</trigger>",
     "x.xml:3:5: unknown argument <lwo> of ReadPipe (did you mean 'low'?)\n"
     "        <lwo>1024</lwo>\n"
     "        ^"},
    {"<trigger id='a' class='ReadPipe'><args><low>1</low><low>2</low></args></trigger>",
     "x.xml:1:52: a second <low>\n"
     "    <trigger id='a' class='ReadPipe'><args><low>1</low><low>2</low></args></trigger>\n"
     "                                                       ^"},
    {"<trigger id='a' class='ReadPipe'><args>1024</args></trigger>",
     "x.xml:1:34: <args> of ReadPipe cannot be a text ('1024')\n"
     "    <trigger id='a' class='ReadPipe'><args>1024</args></trigger>\n"
     "                                     ^"},
    {"<trigger id='a' class='WithMutexTrigger'><args><n>1</n></args></trigger>",
     "x.xml:1:48: unknown argument <n> of WithMutex\n"
     "    <trigger id='a' class='WithMutexTrigger'><args><n>1</n></args></trigger>\n"
     "                                                   ^"},
    {"<trigger id='a' class='Random'><args><probabilty>1</probabilty></args></trigger>",
     "x.xml:1:38: unknown argument <probabilty> of Random (did you mean 'probability'?)\n"
     "    <trigger id='a' class='Random'><args><probabilty>1</probabilty></args></trigger>\n"
     "                                         ^"},
    {"<trigger id='a' class='ProgramState'/>",
     "x.xml:1:1: a trigger on program variables needs <args> with <left>, <operator> and <right>, "
     "or an <expression>\n"
     "    <trigger id='a' class='ProgramState'/>\n"
     "    ^"},
    {"<trigger id='a' "
     "class='ProgramState'><args><left>a</left><op>~</op><right>b</right></args></trigger>",
     "x.xml:1:58: an <operator> is one of == != &lt; &lt;= > >=, or eq ne lt le gt ge\n"
     "    <trigger id='a' "
     "class='ProgramState'><args><left>a</left><op>~</op><right>b</right></args></trigger>\n"
     "                                                             ^"},
    {"<trigger id='a' class='My-Class'/><function name='f' return='0'><reftrigger "
     "ref='a'/></function>",
     "x.xml:1:1: a plug-in's name is made of letters, digits and '_' (in 'plugin(My-Class, "
     "instance: \"a\")')\n"
     "    <trigger id='a' class='My-Class'/><function name='f' return='0'><reftrigger "
     "ref='a'/></function>\n"
     "    ^"},
    {"<function name='f'/>", "x.xml:1:1: <function> needs return=\"VALUE\", or \"unused\" if its "
                             "calls are only to be seen by a trigger\n"
                             "    <function name='f'/>\n"
                             "    ^"},
    {"<function name='f' return='0' retval='0'/>",
     "x.xml:1:1: return and retval mean the same; give one of them\n"
     "    <function name='f' return='0' retval='0'/>\n"
     "    ^"},
    {"<function return='0'/>", "x.xml:1:1: <function> needs a name\n"
                               "    <function return='0'/>\n"
                               "    ^"},
    {"<function name='f' return='banana'/>",
     "x.xml:1:28: 'banana' is not a value: a number or a known constant\n"
     "    <function name='f' return='banana'/>\n"
     "                               ^"},
    {"<function name='f'\n"
     "  return = '-1' errno=\"EI0\"/>",
     "x.xml:2:24: 'EI0' is not an errno (did you mean 'EIO'?)\n"
     "      return = '-1' errno=\"EI0\"/>\n"
     "                           ^"},
    {"<function name='f' return='-1' numargs='x'/>",
     "x.xml:1:41: expected a number of arguments, found 'x'\n"
     "    <function name='f' return='-1' numargs='x'/>\n"
     "                                            ^"},
    {"<function name='f' return='-1' numargs='3 4'/>",
     "x.xml:1:43: expected the end of the value, found '4'\n"
     "    <function name='f' return='-1' numargs='3 4'/>\n"
     "                                              ^"},
    {"<function name='f' return='-1 5'/>", "x.xml:1:31: expected the end of the value, found '5'\n"
                                           "    <function name='f' return='-1 5'/>\n"
                                           "                                  ^"},
    {"<function name='f' return='-1' errrno='EIO'/>",
     "x.xml:1:1: unknown attribute 'errrno' of <function> (did you mean 'errno'?)\n"
     "    <function name='f' return='-1' errrno='EIO'/>\n"
     "    ^"},
    {"<function name='f' return='-1'>text</function>",
     "x.xml:1:1: unexpected text 'text' in <function>\n"
     "    <function name='f' return='-1'>text</function>\n"
     "    ^"},
    {"<function name='f' return='-1'>text<reftrigger ref='a'/></function>",
     "x.xml:1:36: unexpected text 'text' before this\n"
     "    <function name='f' return='-1'>text<reftrigger ref='a'/></function>\n"
     "                                       ^"},
    {"<function name='f' return='-1'>\n"
     "  <reftriger ref='a'/>\n"
     "</function>",
     "x.xml:2:3: unknown element <reftriger> in <function> (did you mean 'reftrigger'?)\n"
     "      <reftriger ref='a'/>\n"
     "      ^"},
    {"<function name='f' return='-1'>\n"
     "  <reftrigger/>\n"
     "</function>",
     "x.xml:2:3: <reftrigger> needs a ref\n"
     "      <reftrigger/>\n"
     "      ^"},
    {"<trigger id='abc' class='Singleton'/>\n"
     "<function name='f' return='-1'>\n"
     "  <reftrigger ref='abd'/>\n"
     "</function>",
     "x.xml:3:3: trigger 'abd' is not declared (did you mean 'abc'?)\n"
     "      <reftrigger ref='abd'/>\n"
     "      ^"},
    {"<trigger id='a' class='Singleton'/>\n"
     "<function name='f' return='-1'>\n"
     "  <reftrigger ref='a' negate='maybe'/>\n"
     "</function>",
     "x.xml:3:3: negate must be true or false\n"
     "      <reftrigger ref='a' negate='maybe'/>\n"
     "      ^"},
    {"<trigger id='a' class='Singleton'/>\n"
     "<function name='f' return='-1'>\n"
     "  <reftrigger ref='a' negate='true'/>\n"
     "</function>",
     "x.xml:2:1: 'once' can only be joined to the rest of the condition by 'and' (in 'not "
     "(once)')\n"
     "    <function name='f' return='-1'>\n"
     "    ^"},
    {"<trigger id='a' class='Singleton'/>\n"
     "<function name='f' return='-1'>\n"
     "  <reftrigger ref='a'>x</reftrigger>\n"
     "</function>",
     "x.xml:3:3: <reftrigger> is empty: <reftrigger ref=\"...\" />\n"
     "      <reftrigger ref='a'>x</reftrigger>\n"
     "      ^"},
    {"<function name='a::b' return='-1'/>",
     "x.xml:1:17: 'a::b': C++ functions go by their mangled names, or a glob such as _ZN*name*\n"
     "    <function name='a::b' return='-1'/>\n"
     "                    ^"},
    {"<function name='libc:read' library='libc' return='-1'/>",
     "x.xml:1:1: the library is given twice\n"
     "    <function name='libc:read' library='libc' return='-1'/>\n"
     "    ^"},
    {"<scenario><function name='f' return='-1'>",
     "x.xml:1:42: not readable as XML: mismatched tag\n"
     "    <scenario><function name='f' return='-1'>\n"
     "                                             ^"},
    {"<scenario/>text", "x.xml:1:16: unexpected text 'text' before this\n"
                        "    <scenario/>text\n"
                        "                   ^"},
    {"<scenario foo='1'/>", "x.xml:1:1: unknown attribute 'foo' of <scenario>\n"
                            "    <scenario foo='1'/>\n"
                            "    ^"},
    {"<scenario>text</scenario>", "x.xml:1:1: unexpected text 'text' in <scenario>\n"
                                  "    <scenario>text</scenario>\n"
                                  "    ^"},
    {"<?xml version='1.0'?>\n"
     "<function name='f' return='x'/>",
     "x.xml:2:28: 'x' is not a value: a number or a known constant\n"
     "    <function name='f' return='x'/>\n"
     "                               ^"},
    {"<!DOCTYPE x><scenario/>", "x.xml:1:3: not readable as XML: not well-formed (invalid token)\n"
                                "    <!DOCTYPE x><scenario/>\n"
                                "      ^"},
    {"<a></b>", "x.xml:1:6: not readable as XML: mismatched tag\n"
                "    <a></b>\n"
                "         ^"},
    {"<function name='f' return='-1'/>\n"
     "&foo;",
     "x.xml:2:1: not readable as XML: undefined entity\n"
     "    &foo;\n"
     "    ^"},
};

static void test_messages(void **state)
{
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct scenario *scenario = new_scenario();
        expect_error(scenario_add_xml(scenario, "x.xml", broken[i].text, strlen(broken[i].text)),
                     broken[i].message);
        scenario_free(scenario);
    }
}

// The article's Figure 7: a trigger of the user's own sees locks, unlocks and reads.
static const char figure_7[] =
    "<!-- Make the trigger known to LFI -->\n"
    "<trigger id=\"readTrig1K4K\" class=\"ReadPipe1Kto4KwithMutex\" />\n"
    "<!-- Eval trigger for all read() calls; return -1 whenever trigger returns true -->\n"
    "<function name=\"read\" numargs=\"3\" return=\"-1\" errno=\"EINVAL\">\n"
    "  <reftrigger ref=\"readTrig1K4K\" />\n"
    "</function>\n"
    "<!-- Trigger needs to see all locks/unlocks, so intercept all calls and invoke it -->\n"
    "<function name=\"pthread_mutex_lock\" return=\"unused\" errno=\"unused\">\n"
    "  <reftrigger ref=\"readTrig1K4K\" />\n"
    "</function>\n"
    "<function name=\"pthread_mutex_unlock\" return=\"unused\" errno=\"unused\">\n"
    "  <reftrigger ref=\"readTrig1K4K\" />\n"
    "</function>\n";

// Figure 9: two triggers, both must hold.
static const char figure_9[] =
    "<!-- Declare and initialize a ReadPipe instance -->\n"
    "<trigger id=\"readTrig1K4K\" class=\"ReadPipe\">\n"
    "  <args>\n"
    "    <low>1024</low>\n"
    "    <high>4096</high>\n"
    "  </args>\n"
    "</trigger>\n"
    "<!-- Declare a WithMutex instance -->\n"
    "<trigger id=\"mutexTrig\" class=\"WithMutex\" />\n"
    "<!-- Invoke the composition for read() calls -->\n"
    "<function name=\"read\" numargs=\"3\" return=\"-1\" errno=\"EINVAL\">\n"
    "  <reftrigger ref=\"mutexTrig\" />\n"
    "  <reftrigger ref=\"readTrig1K4K\" />\n"
    "</function>\n"
    "<!-- Mutex trigger needs to see all the lock/unlock calls -->\n"
    "<function name=\"pthread_mutex_lock\" return=\"unused\" errno=\"unused\">\n"
    "  <reftrigger ref=\"mutexTrig\" />\n"
    "</function>\n"
    "<function name=\"pthread_mutex_unlock\" return=\"unused\" errno=\"unused\">\n"
    "  <reftrigger ref=\"mutexTrig\" />\n"
    "</function>\n";

// Figure 11: made by a call-site analyzer.
static const char figure_11[] = "<trigger id=\"Trig8054a69\" class=\"CallStackTrigger\">\n"
                                "  <args>\n"
                                "  <frame>\n"
                                "        <module>bft/bft-simple/simple-server</module>\n"
                                "        <offset>0x8054a69</offset>\n"
                                "        </frame>\n"
                                "        </args>\n"
                                "        </trigger>\n"
                                "        <function name=\"fopen\" retval=\"0\" errno=\"EINVAL\">\n"
                                "        <reftrigger ref=\"Trig8054a69\" />\n"
                                "        </function>\n";

static struct scenario *read_xml(const char *text)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_xml(scenario, "x.xml", text, strlen(text)));
    return scenario;
}

static void test_figure_7(void **state)
{
    char directory[] = "/tmp/ordeal-test-XXXXXX", path[96];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/ReadPipe1Kto4KwithMutex.so", directory);
    write_plugin(path);
    struct scenario *scenario = read_xml(figure_7);
    assert_int_equal(scenario_rule_count(scenario), 3);
    must(scenario_add_plugin(scenario, path));
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.header->plugins.count, 1); // one state for the three functions
    static const char *const functions[] = {"read", "pthread_mutex_lock", "pthread_mutex_unlock"};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(scenario_rule(scenario, i).function, functions[i]);
        assert_int_equal(plan.rules[i].code.count, 1);
        assert_int_equal(plan.code[plan.rules[i].code.offset].op, WIRE_OP_PLUGIN);
        assert_int_equal(plan.code[plan.rules[i].code.offset].b, 0);
        assert_int_equal(plan.rules[i].actions, i == 0 ? WIRE_RETURN | WIRE_ERRNO : 0);
    }
    assert_true((int64_t)plan.rules[0].value[0] == -1);
    assert_int_equal(plan.rules[0].error, 22);
    assert_string_equal(scenario_rule(scenario, 1).action, "watch");
    scenario_free(scenario);
    unlink(path);
    rmdir(directory);
}

static void test_figure_9(void **state)
{
    struct scenario *scenario = read_xml(figure_9);
    assert_string_equal(
        scenario_rule(scenario, 0).text,
        "read=-1/EINVAL when holding_mutex and fd(1).pipe and arg(3) in 1024..4096");
    assert_int_equal(scenario_rule_count(scenario), 3);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_true(plan.header->uses & WIRE_USE_MUTEX);
    static const struct {
        uint64_t mutexes, size;
        unsigned fd_tests;
        bool fires;
    } calls[] = {{1, 1024, 1, true},  {1, 4096, 1, true},  {0, 2048, 1, false},
                 {2, 1023, 1, false}, {1, 4097, 1, false}, {1, 2048, 0, false}};
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        struct call call = {.count = 1,
                            .arguments = {3, 0, calls[i].size},
                            .mutexes = calls[i].mutexes,
                            .fd_tests = calls[i].fd_tests};
        assert_int_equal(evaluate(&plan, 0, &call) != 0, calls[i].fires);
    }
    scenario_free(scenario);
}

static void test_figure_11(void **state)
{
    struct scenario *scenario = read_xml(figure_11);
    assert_int_equal(scenario_rule_count(scenario), 1);
    assert_int_equal(scenario_query_count(scenario), 1);
    const struct scenario_query *query = scenario_query(scenario, 0);
    assert_int_equal(query->kind, SCENARIO_QUERY_SITE);
    assert_string_equal(query->module, "bft/bft-simple/simple-server");
    assert_int_equal(query->offset, 0x8054a69);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.rules[0].value[0], 0);
    assert_int_equal(plan.rules[0].error, 22);
    assert_int_equal(plan.code[0].op, WIRE_OP_STACK);
    scenario_free(scenario);
}

static void test_classes(void **state)
{
    static const struct {
        const char *class_, *args, *expression;
    } cases[] = {
        {"CallStackTrigger", "<frame><function>main</function></frame>", "stack(\"main\")"},
        {"callstack",
         "<frame><module>libx.so</module><function>f</function></frame>"
         "<frame><file>a/b.c</file><line>12</line></frame>"
         "<frame><module>httpd</module></frame>"
         "<frame><module>m</module><file>x.c</file><line>3</line></frame>",
         "stack(\"libx.so:f\", \"a/b.c:12\", \"httpd:\", \"m:x.c:3\")"},
        {"CallStack", "<module>m</module><offset>16</offset>", "stack(\"m+16\")"},
        {"CallCountTrigger", "<n>5</n>", "count == 5"},
        {"CALLCOUNT", "<count>5</count>", "count == 5"},
        {"CallCount", "7", "count == 7"},
        {"CallCount", "<first>3</first><last>9</last><step>2</step>", "count in 3..9+2"},
        {"CallCount", "<first>3</first>", "count in 3.."},
        {"CallCount", "<every>4</every>", "count in 1..+4"},
        {"SingletonTrigger", "", "once"},
        {"Singleton", "", "once"},
        {"RandomTrigger", "<probability>0.1</probability>", "random(0.1)"},
        {"Random", "<probability>10%</probability>", "random(10%)"},
        {"Random", "<percent>10</percent>", "random(10%)"},
        {"CoverageTrigger", "", "new_stack"},
        {"CoverageImprovementTrigger", "", "new_stack"},
        {"ProgramStateTrigger",
         "<left>numConnections</left><operator>==</operator><right>maxConnections</right>",
         "var(numConnections) == var(maxConnections)"},
        {"ProgramSemantic", "<variable>a.b</variable><op>ge</op><value>-5</value>",
         "var(a.b) >= -5"},
        {"ProgramState", "<left>x</left><op>&lt;</op><right>3</right>", "var(x) < 3"},
        {"ProgramState", "<expression>var(x) == 1 or var(y) == 2</expression>",
         "(var(x) == 1 or var(y) == 2)"},
        {"DistributedTrigger", "<name>partition</name>", "remote(\"partition\")"},
        {"Distributed", "", "remote(\"t\")"},
        {"ReadPipe", "<low>1</low><high>2</high>", "fd(1).pipe and arg(3) in 1..2"},
        {"ReadPipeTrigger", "<low>1</low>", "fd(1).pipe and arg(3) in 1.."},
        {"WithMutex", "", "holding_mutex"},
        {"Mine", "<low>1</low><deep><er>\"2\" \\</er></deep>",
         "plugin(Mine, \"low\": \"1\", \"deep.er\": \"\\\"2\\\" \\\\\", instance: \"t\")"},
        {"Mine", "some text", "plugin(Mine, args: \"some text\", instance: \"t\")"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024], negated[600];
        snprintf(text, sizeof text,
                 "<scenario><trigger id='t' class='%s'><args>%s</args></trigger>"
                 "<function name='f' return='0'><reftrigger ref='t'/></function></scenario>",
                 cases[i].class_, cases[i].args);
        struct scenario *scenario = read_xml(text);
        assert_string_equal(scenario_rule(scenario, 0).condition, cases[i].expression);
        scenario_free(scenario);
        if (strcmp(cases[i].expression, "once") == 0)
            continue;
        snprintf(text, sizeof text,
                 "<trigger id='t' class='%s'><args>%s</args></trigger>"
                 "<function name='f' return='0'><reftrigger ref='t' not='1'/></function>",
                 cases[i].class_, cases[i].args);
        snprintf(negated, sizeof negated, "not (%s)", cases[i].expression);
        scenario = read_xml(text);
        assert_string_equal(scenario_rule(scenario, 0).condition, negated);
        scenario_free(scenario);
    }
}

static void test_composition(void **state)
{
    struct scenario *scenario =
        read_xml("<?xml version='1.0' encoding='UTF-8'?>\n"
                 "<!-- functions may stand before their triggers -->\n"
                 "<scenario name='demo'>\n"
                 "<function name='libc:write' return='-1' errno='5'>\n"
                 "  <reftrigger ref='b' negate='true'/><reftrigger ref='a' negate='false'/>\n"
                 "</function>\n"
                 "<function name='write' library='libz*' return='unused' errno='EIO'>\n"
                 "  <reftrigger ref='b'/>\n"
                 "</function>\n"
                 "<function name='malloc' retval='NULL'/>\n"
                 "<trigger id='a' class='CallCount'><args><n>2</n></args></trigger>\n"
                 "<trigger id='b' class='ReadPipe'/>\n"
                 "</scenario>\n");
    static const char *const texts[] = {
        "libc:write=-1/EIO when not (fd(1).pipe and arg(3) in 0..) and count == 2",
        "libz*:write=errno only EIO when fd(1).pipe and arg(3) in 0..",
        "malloc=NULL",
    };
    assert_int_equal(scenario_rule_count(scenario), COUNT_OF(texts));
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_string_equal(scenario_rule(scenario, i).text, texts[i]);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.rules[2].code.count, 0); // no trigger: every call
    scenario_free(scenario);
}

// What XML says can be said again natively.
static void test_native_again(void **state)
{
    static const char *const figures[] = {figure_7, figure_9, figure_11};
    for (size_t i = 0; i < COUNT_OF(figures); i++) {
        struct scenario *scenario = read_xml(figures[i]), *again = new_scenario();
        for (size_t k = 0; k < scenario_rule_count(scenario); k++)
            must(scenario_add_spec(again, scenario_rule(scenario, k).text));
        assert_int_equal(scenario_rule_count(again), scenario_rule_count(scenario));
        assert_int_equal(scenario_query_count(again), scenario_query_count(scenario));
        scenario_free(again);
        scenario_free(scenario);
    }
}

// Equal ids in two files are two instances.
static void test_two_files(void **state)
{
    struct scenario *scenario = new_scenario();
    static const char one[] = "<trigger id='t' class='Mine'><args><a>1</a></args></trigger>"
                              "<function name='f' return='0'><reftrigger ref='t'/></function>";
    static const char two[] = "<trigger id='t' class='Mine'><args><a>2</a></args></trigger>"
                              "<function name='f' return='0'><reftrigger ref='t'/></function>";
    must(scenario_add_xml(scenario, "one.xml", one, strlen(one)));
    must(scenario_add_xml(scenario, "two.xml", two, strlen(two)));
    assert_string_equal(scenario_rule(scenario, 1).condition,
                        "plugin(Mine, \"a\": \"2\", instance: \"t#2\")");
    scenario_free(scenario);
}

static void test_hostile(void **state)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    for (unsigned i = 0; i < 100000; i++)
        must(buffer_append(&text, "<a>", 3));
    struct scenario *scenario = new_scenario();
    struct error *error = scenario_add_xml(scenario, "x.xml", text.data, text.size);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "nested too deeply (more than 64 levels)"));
    error_free(error);
    scenario_free(scenario);
}

// A plug-in's file may still be given, so a class that is neither is found out when compiling.
static void test_misspelled_classes(void **state)
{
    static const struct {
        const char *class_, *hint;
    } cases[] = {{"WithMutx", " (did you mean 'WithMutex'?)"},
                 {"WithMutxTrigger", " (did you mean 'WithMutexTrigger'?)"},
                 {"Mine", ""}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[256], message[512];
        const char *class_ = cases[i].class_;
        snprintf(text, sizeof text,
                 "<scenario>\n<trigger id='a' class='%s'/>\n"
                 "<function name='f' return='0'><reftrigger ref='a'/></function>\n</scenario>",
                 class_);
        snprintf(message, sizeof message,
                 "x.xml:2:24: there is no trigger class '%s'%s, and no plug-in file of that name: "
                 "give one with --plugin FILE, or put %s.so beside the scenario file or into a "
                 "directory of ORDEAL_PLUGIN_PATH\n"
                 "    <trigger id='a' class='%s'/>\n"
                 "                           ^",
                 class_, cases[i].hint, class_, class_);
        struct scenario *scenario = new_scenario();
        struct buffer bytes = {0};
        must(scenario_add_xml(scenario, "x.xml", text, strlen(text)));
        expect_error(scenario_compile(scenario, 1, &bytes), message);
        scenario_free(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misspelled_classes), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_figure_7),           cmocka_unit_test(test_figure_9),
        cmocka_unit_test(test_figure_11),          cmocka_unit_test(test_classes),
        cmocka_unit_test(test_composition),        cmocka_unit_test(test_native_again),
        cmocka_unit_test(test_two_files),          cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

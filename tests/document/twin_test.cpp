#include "dump.hpp"

#include <string>

#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

// Every element and attribute of the language, so that one that the table forgot is a warning.
const std::string yaml = R"(
version: "2.7"
selection: {only: b, not: "", tag: "x,y"}
include-path: {path: [a, {tag: t, _: b}]}
check_tags: x|y
tags: {forced: false, check_tags: "!z", tag: [{name: x, _: a tag}, {name: y, _: another}]}
parameterset: {name: g, init_with: "f.yaml:h", duplicate: concat}
benchmark:
  name: b
  outpath: o
  file_path_ref: d
  comment: c
  parameterset:
    name: p
    tag: t
    parameter:
      - {name: n, type: int, mode: text, separator: ";", export: true, unit: s, update_mode: step,
         duplicate: none, selection: 1, tag: t, _: "1;2"}
      - {name: m, _: a & b < c}
  fileset:
    name: f
    init_with: f.yaml
    copy: {source_dir: s, target_dir: t, name: n, separator: " ", rel_path_ref: internal,
           file_path_ref: d, active: true, _: a b}
    link: {directory: d, active: false, _: l}
    prepare: {stdout: o, stderr: e, work_dir: w, active: true, _: make}
  substituteset:
    name: u
    init_with: f.yaml
    iofile: {in: i, out: o, out_mode: a}
    sub: [{source: "#A#", dest: a, mode: text}, {source: "#B#", _: b}]
  step:
    name: s
    depend: a
    iterations: 2
    cycles: 2
    procs: 1
    max_async: 1
    active: true
    where: $n
    timeout: 5min
    shared: d
    work_dir: w
    suffix: x
    export: true
    do_log_file: l
    tag: t
    use: [{tag: t, _: p}, {from: f.yaml, _: q}]
    do: {stdout: o, stderr: e, active: true, work_dir: w, shared: true, done_file: d, error_file: e,
         break_file: b, tag: t, _: x}
    batch: {nodes: 1, tasks_per_node: 1, threads_per_task: 1, gpus_per_node: 1, time_limit: 1h,
            template: t, array: false, pack: 2}
    energy: {methods: auto, interval: 1s}
    retry: {on: [node_fail, "timeout,lost"], times: 2, timelimit_factor: 1.5, tag: t}
  patternset:
    name: q
    init_with: f.yaml
    pattern: {name: x, mode: pattern, type: int, unit: s, default: 0, dotall: true, tag: t, _: y}
  analyser:
    name: an
    reduce: true
    use: q
    analyse: {step: s, file: {use: q, _: stdout}}
  result:
    result_dir: r
    use: an
    table: {name: t, style: csv, separator: ",", sort: n, filter: $n, transpose: false,
            column: {title: T, format: .2f, colw: 5, tag: t, _: n}}
    syslog: {name: l, address: a, host: h, port: 1, format: f, sort: n, filter: $n,
             key: {format: d, _: n}}
    database: {name: d, file: f, filter: $n, primekeys: n, key: {title: N, primekey: true, _: n}}
)";

const std::string xml = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE jube SYSTEM "http://nowhere.invalid/jube.dtd" [ <!ENTITY e "x>y"> ]>
<jube version="2.7" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="j">
  <selection><only>b</only><not></not><tag>x,y</tag></selection>
  <include-path><path>a</path><path tag="t">b</path></include-path>
  <check_tags>x|y</check_tags>
  <tags forced="False"><check_tags>!z</check_tags>
    <tag name="x">a tag</tag><tag name="y">another</tag></tags>
  <parameterset name="g" init_with="f.yaml:h" duplicate="concat"/>
  <benchmark name="b" outpath="o" file_path_ref="d">
    <comment>c</comment>
    <parameterset name="p" tag="t">
      <parameter name="n" type="int" mode="text" separator=";" export="True" unit="s"
                 update_mode="step" duplicate="none" selection="1" tag="t">1;<!-- two -->2</parameter>
      <parameter name="m">a &amp; b <![CDATA[< c]]></parameter>
    </parameterset>
    <fileset name="f" init_with="f.yaml">
      <copy source_dir="s" target_dir="t" name="n" separator=" " rel_path_ref="internal"
            file_path_ref="d" active="True">a b</copy>
      <link directory="d" active="False">l</link>
      <prepare stdout="o" stderr="e" work_dir="w" active="True">make</prepare>
    </fileset>
    <substituteset name="u" init_with="f.yaml">
      <iofile in="i" out="o" out_mode="a"/>
      <sub source="#A#" dest="a" mode="text"/><sub source="#B#">b</sub>
    </substituteset>
    <step name="s" depend="a" iterations="2" cycles="2" procs="1" max_async="1" active="True"
          where="$n" timeout="5min" shared="d" work_dir="w" suffix="x" export="True"
          do_log_file="l" tag="t">
      <use tag="t">p</use><use from="f.yaml">q</use>
      <do stdout="o" stderr="e" active="True" work_dir="w" shared="True" done_file="d"
          error_file="e" break_file="b" tag="t">x</do>
      <batch nodes="1" tasks_per_node="1" threads_per_task="1" gpus_per_node="1" time_limit="1h"
             template="t" array="False" pack="2"/>
      <energy methods="auto" interval="1s"/>
      <retry times="2" timelimit_factor="1.5" tag="t">
        <on>node_fail</on><on>timeout,lost</on>
      </retry>
    </step>
    <patternset name="q" init_with="f.yaml">
      <pattern name="x" mode="pattern" type="int" unit="s" default="0" dotall="True" tag="t">y</pattern>
    </patternset>
    <analyzer name="an" reduce="True">
      <use>q</use>
      <analyse step="s"><file use="q">stdout</file></analyse>
    </analyzer>
    <result result_dir="r">
      <use>an</use>
      <table name="t" style="csv" separator="," sort="n" filter="$n" transpose="False">
        <column title="T" format=".2f" colw="5" tag="t">n</column>
      </table>
      <syslog name="l" address="a" host="h" port="1" format="f" sort="n" filter="$n">
        <key format="d">n</key>
      </syslog>
      <database name="d" file="f" filter="$n" primekeys="n">
        <key title="N" primekey="True">n</key>
      </database>
    </result>
  </benchmark>
</jube>
)";

TEST(Twins, GiveTheSameTree) {
  Diagnostics strict(true);
  EXPECT_EQ(dump(read_yaml(yaml, "t.yaml", strict)), dump(read_xml(xml, "t.xml", strict)));
}

TEST(Twins, GiveTheSameTreeOfAShortForm) {
  Diagnostics strict(true);
  EXPECT_EQ(
      dump(read_yaml("step: {name: s, retry: 3}\n", "t.yaml", strict)),
      dump(read_xml("<jube><benchmark><step name=\"s\"><retry>3</retry></step></benchmark></jube>",
                    "t.xml", strict)));
}

}  // namespace
}  // namespace bench::document

import HTTP
import Testing

@testable import Webhooks

@Suite("What products send becomes a few lines that a person reads")
struct TemplateTests {
  @Test("Alertmanager: one alert says what, how bad, where, and where to look")
  func alert() throws {
    #expect(
      try message(.alertmanager, "alertmanager-firing") == """
        FIRING: InstanceDown, critical (web1:9100)
        Instance web1:9100 down
        http://prometheus.example.org:9090/graph?g0.expr=up+%3D%3D+0&g0.tab=1
        """)
  }

  @Test("Alertmanager: several are one message, and those that it left out are counted")
  func alerts() throws {
    #expect(
      try message(.alertmanager, "alertmanager-group") == """
        2 FIRING, 1 RESOLVED
        - FIRING: DiskFull, warning (db1:9100): /var on db1 is 91 % full
        - FIRING: DiskFull, warning (db2:9100): /var on db2 is 95 % full
        - RESOLVED: DiskFull, warning (db3:9100): /var on db3 is 85 % full
        and 4 more
        http://alertmanager.example.org:9093
        """)
  }

  @Test("Grafana: the values that were measured, and the panel")
  func grafana() throws {
    #expect(
      try message(.grafana, "grafana-firing") == """
        FIRING: High memory usage
        This alert was triggered for zone us-1
        B = 44.25, C = 1
        https://play.grafana.org/d/1afz29v7z?viewPanel=2
        """)
  }

  @Test("Grafana: alerts of before version 9, too")
  func grafanaLegacy() throws {
    #expect(
      try message(.grafana, "grafana-legacy") == """
        [Alerting] Load
        The load is high
        http://grafana.example.org/d/hZ7BuVbWz/load?tab=alert
        """)
  }

  @Test("GitLab: a push names its last commits and counts those before them")
  func gitlabPush() throws {
    #expect(
      try message(.gitlab, "gitlab-push") == """
        mike/diaspora: 4 commits to main by John Smith
        (2 more before)
        - Update Catalan translation to e38cb41.
        - fixed readme
        http://gitlab.example.com/mike/diaspora/-/compare/95790bf891e7...da1560886d4f
        """)
  }

  @Test(
    "GitLab: tags, merge requests, issues and other work, comments, pipelines, deployments, wiki pages",
    arguments: [
      ("gitlab-tag", "jsmith/example: tag v1.0.0 created by John Smith\nhttp://example.com/jsmith/example"),
      (
        "gitlab-merge-request",
        """
        gitlabhq/gitlab-test: merge request !1 opened by Administrator
        MS-Viewport
        ms-viewport → main
        http://example.com/diaspora/merge_requests/1
        """
      ),
      (
        "gitlab-issue",
        """
        gitlabhq/gitlab-test: issue #23 closed by Administrator
        New API: create/update/delete file
        http://example.com/diaspora/issues/23
        """
      ),
      (
        "gitlab-note",
        """
        gitlab-org/gitlab-test: comment on !1 by Administrator
        This MR needs work. Please see above.
        http://example.com/gitlab-org/gitlab-test/merge_requests/1#note_1244
        """
      ),
      (
        "gitlab-pipeline",
        """
        gitlab-org/gitlab-test: pipeline 31 on main failed after 63 s by Administrator
        test
        http://192.168.64.1:3005/gitlab-org/gitlab-test/-/pipelines/31
        """
      ),
      (
        "gitlab-deployment",
        """
        root/shop: deployment to staging succeeded by Administrator
        Add new file
        http://gitlab.example.com/root/shop/-/jobs/796
        """
      ),
      (
        "gitlab-work-item",
        """
        gitlabhq/gitlab-test: task #24 opened by Administrator
        Write the migration
        http://example.com/gitlabhq/gitlab-test/-/work_items/24
        """
      ),
      (
        "gitlab-wiki",
        """
        root/awesome-project: wiki page created by Administrator
        Awesome
        http://example.com/root/awesome-project/-/wikis/awesome
        """
      ),
      (
        "gitlab-note-commit",
        """
        gitlabhq/gitlab-test: comment on cfe32cf6 edited by Administrator
        This is a commit comment. How does this work?
        http://example.com/gitlabhq/gitlab-test/commit/cfe32cf61b73a0d5e9f13e774abde7ff789b1660#note_1243
        """
      ),
      ("gitlab-member", "webhook-test: user add to group\nJohn Smith"),
    ])
  func gitlab(_ name: String, _ text: String) throws {
    #expect(try message(.gitlab, name) == text)
  }

  @Test("GitLab: a pipeline or a deployment that still runs is not worth a message")
  func running() throws {
    #expect(try message(.gitlab, "gitlab-pipeline-running") == nil)
    #expect(try message(.gitlab, "gitlab-deployment-running") == nil)
  }

  @Test(
    "GitHub: pushes, pull requests, issues, workflows, releases, and what it may invent next",
    arguments: [
      ("ping", "github-ping", "octocat/Hello-World: the webhook works\nKeep it logically awesome."),
      (
        "push", "github-push",
        """
        octocat/Hello-World: 1 commit forced to feature/search by octocat
        - Search by date
        https://github.com/octocat/Hello-World/compare/6113728f27ae...59b20b8d5c6f
        """
      ),
      (
        "pull_request", "github-pull-request",
        """
        octocat/Hello-World: pull request #2 opened by octocat
        Update the README with new information.
        https://github.com/octocat/Hello-World/pull/2
        changes → main
        """
      ),
      (
        "pull_request", "github-pull-request-merged",
        """
        octocat/Hello-World: pull request #2 merged by octocat
        Update the README with new information.
        https://github.com/octocat/Hello-World/pull/2
        """
      ),
      (
        "issues", "github-issue",
        """
        octocat/Hello-World: issue #1 labeled by octocat
        Spelling error in the README file
        https://github.com/octocat/Hello-World/issues/1
        """
      ),
      (
        "workflow_run", "github-workflow-run",
        """
        octocat/Hello-World: workflow Build on main failed
        Search by date
        https://github.com/octocat/Hello-World/actions/runs/289782451
        """
      ),
      (
        "release", "github-release",
        """
        octocat/Hello-World: release 0.0.1 published by octocat
        First steps
        https://github.com/octocat/Hello-World/releases/tag/0.0.1
        """
      ),
      (
        "issue_comment", "github-comment-edited",
        """
        octocat/Hello-World: comment on #1 edited by octocat
        Right
        https://github.com/octocat/Hello-World/issues/1#issuecomment-492700400
        """
      ),
      (
        "commit_comment", "github-commit-comment",
        """
        octocat/Hello-World: comment on 6113728f by octocat
        This is a really good change!
        https://github.com/octocat/Hello-World/commit/6113728f27ae82c7b1a177c8d03f9e96e0adf246#commitcomment-33548674
        """
      ),
      (
        "deployment_status", "github-deployment-status",
        """
        octocat/Hello-World: deployment to production failed by octocat
        https://deploy.example.com/run/7
        """
      ),
      (
        "discussion", "github-discussion",
        """
        octocat/Hello-World: discussion #4 answered by octocat
        How to begin?
        https://github.com/octocat/Hello-World/discussions/4
        """
      ),
      (
        "dependabot_alert", "github-dependabot",
        """
        octocat/Hello-World: dependabot alert created by github
        semver vulnerable to slow expressions
        https://github.com/octocat/Hello-World/security/dependabot/20
        """
      ),
      (
        "pull_request_approved", "gitea-review",
        """
        me/project: review of #2: approved by you
        Fine.
        https://git.example.org/me/project/pulls/2
        """
      ),
      (
        "push", "gitea-push",
        """
        me/project: 1 commit to the new branch new by me
        - Begin
        https://git.example.org/me/project
        """
      ),
      ("star", "github-star", "octocat/Hello-World: star created by octocat\nhttps://github.com/octocat/Hello-World"),
    ])
  func github(_ event: String, _ name: String, _ text: String) throws {
    #expect(try message(.github, name, [.githubEvent: event]) == text)
  }

  @Test("a body of another product is refused, with a word on what belongs there")
  func foreign() throws {
    let head = HTTPHead("POST", "/hook/x")
    for template: HookTemplate in [.json, .alertmanager, .grafana, .gitlab, .github] {
      for body in ["{}", "[]", "5", "{", "\"text\"", ""] {
        do throws(HookRefusal) {
          _ = try template.render(HTTPRequest(head, body: Array(body.utf8)))
          Issue.record("\(template) took \(body)")
        } catch {
          #expect(error.status == 422 && !error.remedy.isEmpty, "\(template) \(body)")
        }
      }
    }
  }

  @Test("whatever a body holds, every template takes it or refuses it, and the text stays within bounds")
  func anything() throws {
    let strange = [
      #"{"alerts": [{}, 5, null, {"labels": 5, "values": {"a": "b"}}], "truncatedAlerts": -9223372036854775808}"#,
      #"{"alerts": [{"labels": {"alertname": ""}, "values": {"x": 1e308}}]}"#,
      #"{"object_kind": "push", "ref": 5, "commits": [null, 7, {"message": "\n\n"}], "total_commits_count": -5}"#,
      #"{"object_kind": "pipeline", "object_attributes": {"duration": 1e300, "id": {}}}"#,
      #"{"object_kind": "merge_request", "object_attributes": []}"#, #"{"object_kind": "note", "issue": 7}"#,
      #"{"text": 5}"#, #"{"text": "x", "to": 5}"#,
      #"{"repository": 5, "commits": {}, "pull_request": [], "number": {}}"#,
    ]
    let long = String(repeating: "x\u{301} ", count: 100_000)
    let texts = strange + [#"{"text": "\#(long)", "object_kind": "\#(long)", "title": "\#(long)"}"#]
    var taken = 0
    for body in texts {
      for template in HookTemplate.allCases {
        for event in ["push", "pull_request", "issues", "release", "workflow_run", "create", "x", long] {
          var head = HTTPHead("POST", "/hook/x")
          head.headers = [.githubEvent: event]
          guard let rendered = try? template.render(HTTPRequest(head, body: Array(body.utf8))) else { continue }
          taken += 1
          #expect((rendered.text ?? "").utf8.count <= HookText.longest + 3)
        }
      }
    }
    #expect(taken > 100)
  }
}

# The public names and the modules that define them: for type checkers and editors, and for
# `__init__.py`, which imports each name from its module on first use.
from . import analysis as analysis
from . import batch as batch
from . import errors as errors
from . import llm as llm
from . import models as models
from . import patching as patching
from . import plots as plots
from . import reporting as reporting
from . import runlogs as runlogs
from . import running as running
from . import strategies as strategies
from . import testing as testing
from .analysis.comparing import compare as compare
from .analysis.ranking import rank as rank
from .analysis.rewards import write_reward as write_reward
from .analysis.summarizing import summarize as summarize
from .analysis.tables import to_pandas as to_pandas
from .analysis.tables import to_records as to_records
from .batch.many import evaluate_many as evaluate_many
from .batch.store import ReportStore as ReportStore
from .benchmark import aevaluate as aevaluate
from .benchmark import evaluate as evaluate
from .dataset import Dataset as Dataset
from .dataset import Task as Task
from .errors import CooperBenchEvalError as CooperBenchEvalError
from .errors import PatchError as PatchError
from .evaluator import Evaluator as Evaluator
from .explaining.explain import explain as explain
from .history import merge_base as merge_base
from .landing.land import land as land
from .models import Conflict as Conflict
from .models import ConflictDetails as ConflictDetails
from .models import ConflictKind as ConflictKind
from .models import Entry as Entry
from .models import MergeStatus as MergeStatus
from .models import PatchStatus as PatchStatus
from .models import TestResult as TestResult
from .models import TestStatus as TestStatus
from .origins.audit import audit as audit
from .origins.provenance import provenance as provenance
from .page import write_page as write_page
from .pairs import Feature as Feature
from .pairs import FeaturePair as FeaturePair
from .pairs import FeatureTeam as FeatureTeam
from .patching.apply import ApplyResult as ApplyResult
from .patching.apply import apply_patch as apply_patch
from .patching.patch import Patch as Patch
from .patching.policy import ApplyPolicy as ApplyPolicy
from .probing.probe import probe as probe
from .reporting import Attempt as Attempt
from .reporting import Blame as Blame
from .reporting import MergeReport as MergeReport
from .reporting import Verdict as Verdict
from .reporting import write_report as write_report
from .reporting.explanation import Explanation as Explanation
from .reporting.plans import LandingPlan as LandingPlan
from .reporting.teams import TeamReport as TeamReport
from .running import LocalSandbox as LocalSandbox
from .running import ResultCache as ResultCache
from .running import Sandbox as Sandbox
from .running import TestRunner as TestRunner
from .running import TestSuite as TestSuite
from .running.sandboxes.bubblewrap import BubblewrapSandbox as BubblewrapSandbox
from .running.sandboxes.containers import ContainerSandbox as ContainerSandbox
from .running.sandboxes.default import default_sandbox as default_sandbox
from .scoring import ConflictScorer as ConflictScorer
from .snapshot import Changes as Changes
from .snapshot import Snapshot as Snapshot
from .strategies.blocks import Resolution as Resolution
from .strategies.blocks import resolve_blocks as resolve_blocks
from .strategies.cascade import cascade as cascade
from .strategies.llm import LLMStrategy as LLMStrategy
from .strategies.protocol import MergeInput as MergeInput
from .strategies.protocol import MergeOutcome as MergeOutcome
from .strategies.protocol import MergeStrategy as MergeStrategy
from .strategies.protocol import resolve_conflicts as resolve_conflicts
from .strategies.registry import available_strategies as available_strategies
from .strategies.registry import get_strategy as get_strategy
from .strategies.run import merge as merge
from .sweeps import evaluate_run as evaluate_run
from .sweeps import gold_matrix as gold_matrix
from .sweeps import gold_teams as gold_teams

# Names that used to be here, and where they are now. Each still works for one version, with a
# `DeprecationWarning`: `__init__.py` reads this table.
AnalysisError = errors.AnalysisError
AttemptFacts = analysis.AttemptFacts
BatchError = errors.BatchError
BatchEvent = batch.BatchEvent
BlameKind = reporting.BlameKind
BrokenTests = reporting.BrokenTests
ChatClient = llm.ChatClient
ChatError = llm.ChatError
ChatFault = llm.ChatFault
ChatReply = llm.ChatReply
ChatRequest = llm.ChatRequest
Comparison = analysis.Comparison
ConflictBlock = models.ConflictBlock
ConflictResolution = reporting.ConflictResolution
ControlFiles = running.ControlFiles
DatasetError = errors.DatasetError
Delivery = running.Delivery
Distribution = analysis.Distribution
DuplicatePluginError = errors.DuplicatePluginError
DuplicateSandboxError = errors.DuplicateSandboxError
DuplicateStrategyError = errors.DuplicateStrategyError
EventKind = batch.EventKind
Execution = running.Execution
ExplainedHunk = reporting.ExplainedHunk
ExplanationStatus = reporting.ExplanationStatus
Failure = reporting.Failure
FailureKind = reporting.FailureKind
FeatureContext = strategies.FeatureContext
FeatureFacts = analysis.FeatureFacts
FeatureReport = reporting.FeatureReport
FileChange = patching.FileChange
FileConflicts = models.FileConflicts
FileMode = models.FileMode
FilePatch = patching.FilePatch
Finding = reporting.Finding
GoldSummary = analysis.GoldSummary
Gone = strategies.Gone
Hazard = models.Hazard
HazardKind = models.HazardKind
Hunk = patching.Hunk
HunkPlacement = models.HunkPlacement
HunkRole = reporting.HunkRole
JudgeRule = models.JudgeRule
Judgement = models.Judgement
Labels = strategies.Labels
LedgerRow = models.LedgerRow
LeftOut = reporting.LeftOut
LeftOutReason = reporting.LeftOutReason
Mean = analysis.Mean
ModelUsage = models.ModelUsage
OrderDependence = reporting.OrderDependence
POLICIES = analysis.POLICIES
PairFacts = analysis.PairFacts
PairMerge = reporting.PairMerge
PairOutcome = reporting.PairOutcome
PairStatus = reporting.PairStatus
PatchLocation = runlogs.PatchLocation
PatchReport = reporting.PatchReport
PeerAgreement = analysis.CooperBenchAgreement
PeerDisagreement = analysis.CooperBenchDisagreement
PeerEval = runlogs.CooperBenchResult
PeerRun = runlogs.CooperBenchRun
PluginError = errors.PluginError
PluginLoadError = errors.PluginLoadError
Policy = analysis.Policy
PolicyRule = analysis.PolicyRule
PolicySummary = analysis.PolicySummary
PolicyVerdict = analysis.PolicyVerdict
Prompts = llm.Prompts
Rate = analysis.Rate
RepeatPolicy = models.RepeatPolicy
Replacement = models.Replacement
Replay = llm.Replay
ReportError = errors.ReportError
RepositoryError = errors.RepositoryError
ResolutionKind = models.ResolutionKind
RunFacts = analysis.RunFacts
Rung = models.Rung
SandboxError = errors.SandboxError
SandboxLoadError = errors.SandboxLoadError
Setting = runlogs.Setting
Severity = models.Severity
StrategyError = errors.StrategyError
StrategyFailedError = errors.StrategyFailedError
StrategyLoadError = errors.StrategyLoadError
StrategySummary = analysis.StrategySummary
SuiteKind = reporting.SuiteKind
SuiteRun = reporting.SuiteRun
Summary = analysis.Summary
TeamAttempt = reporting.TeamAttempt
TeamAttemptFacts = analysis.TeamAttemptFacts
TeamBlame = reporting.TeamBlame
TeamFacts = analysis.TeamFacts
TeamStep = reporting.TeamStep
TeamStrategySummary = analysis.TeamStrategySummary
TeamSuite = reporting.TeamSuite
TeamSummary = analysis.TeamSummary
TestCase = models.TestCase
TestCaseStatus = models.TestCaseStatus
TestFileFilter = patching.TestFileFilter
TestRunError = errors.TestRunError
ThreeWayMerge = strategies.ThreeWayMerge
Tries = analysis.Tries
UnknownPluginError = errors.UnknownPluginError
UnknownSandboxError = errors.UnknownSandboxError
UnknownStrategyError = errors.UnknownStrategyError
Verdicts = analysis.Verdicts
WorkerError = errors.WorkerError
available_sandboxes = running.available_sandboxes
bubblewrap_problem = running.bubblewrap_problem
compare_with_peer = analysis.compare_with_cooperbench
facts_of = analysis.facts_of
get_sandbox = running.get_sandbox
plot_effort = plots.plot_effort
plot_matrix = plots.plot_matrix
plot_teams = plots.plot_teams
plot_tries = plots.plot_tries
plot_verdicts = plots.plot_verdicts
read_eval = runlogs.read_eval
read_evals = runlogs.read_evals
reap_containers = running.reap_containers
report_schema = reporting.report_schema
repository_from_image = running.repository_from_image
solved_within = analysis.solved_within
task_image = running.task_image
to_polars = analysis.to_polars

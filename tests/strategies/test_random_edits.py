"""Every file that a strategy accepts is sound, whatever both sides did to it."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from generators import indices
from hypothesis import given

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "random_edits.py"

SOURCES = {
    "shelf.py": '''\
"""Keeps books."""

import json
from collections import Counter


class Shelf:
    """A shelf with books."""

    limit = 10

    def __init__(self, books=(), *, name="main"):
        self.books = list(books)
        self.name = name

    def add(self, book, count=1):
        if len(self.books) >= self.limit:
            raise ValueError(book)
        for _ in range(count):
            self.books.append(book)
        return self

    @property
    def titles(self):
        return [book["title"] for book in self.books if book]


def load(path, encoding="utf-8"):
    try:
        with open(path, encoding=encoding) as file:
            found = json.load(file)
    except OSError as error:
        print("cannot read", error)
        return None
    else:
        shelf = Shelf(found, name=path)
    counts = Counter(shelf.titles)
    if counts and max(counts.values()) > 1:
        print(
            "twice:",
            counts.most_common(1),
        )
    return shelf
''',
    "shelf.js": """\
import { read } from './files.js'

export class Shelf {
  constructor(books = [], name = 'main') {
    this.books = [...books]
    this.name = name
  }

  add(book, count = 1) {
    if (this.books.length >= 10) {
      throw new Error(`no room for ${book}`)
    }
    for (let i = 0; i < count; i++) {
      this.books.push(book)
    }
    return this
  }
}

export const load = async (path) => {
  try {
    const found = await read(path, { encoding: 'utf-8' })
    const shelf = new Shelf(found.filter((each) => each && each.title), path)
    return shelf
  } catch (error) {
    console.log('cannot read', error)
    return null
  }
}
""",
    "shelf.ts": """\
import { read, type Options } from './files';

export interface Book {
  title: string;
  pages?: number;
}

type Kind = 'new' | 'used';

export class Shelf<T extends Book> {
  private books: T[] = [];

  constructor(readonly name: string, public kind: Kind = 'new') {}

  add(book: T, count = 1): this {
    if (this.books.length >= 10 || !book.title) {
      throw new Error(book.title);
    }
    this.books.push(...Array(count).fill(book));
    return this;
  }
}

export function load(path: string, options: Options = {}): Shelf<Book> | null {
  const found = read(path, { ...options, encoding: 'utf-8' });
  if (!found) {
    return null;
  }
  const shelf = new Shelf<Book>(path);
  found.forEach((each) => {
    shelf.add(each);
  });
  return shelf;
}
""",
    "shelf.tsx": """\
import React, { useState } from 'react';

type Props = { books: string[]; onPick?: (book: string) => void };

export function Shelf({ books, onPick }: Props) {
  const [picked, setPicked] = useState<string | null>(null);
  const pick = (book: string) => {
    setPicked(book);
    if (onPick) {
      onPick(book);
    }
  };
  return (
    <ul className="shelf" data-count={books.length}>
      {books.map((book) => (
        <li key={book} onClick={() => pick(book)}>
          {book === picked ? <b>{book}</b> : book}
        </li>
      ))}
    </ul>
  );
}
""",
    "shelf.go": """\
package shelf

import (
\t"errors"
\t"fmt"
)

// Shelf keeps books.
type Shelf struct {
\tName  string
\tbooks []string
}

func New(name string, books ...string) *Shelf {
\treturn &Shelf{Name: name, books: books}
}

func (s *Shelf) Add(book string, count int) error {
\tif len(s.books) >= 10 {
\t\treturn errors.New("no room")
\t}
\tfor i := 0; i < count; i++ {
\t\ts.books = append(s.books, book)
\t}
\treturn nil
}

func (s *Shelf) Print() {
\tfor i, book := range s.books {
\t\tswitch {
\t\tcase i == 0:
\t\t\tfmt.Println("first", book)
\t\tdefault:
\t\t\tfmt.Println(book)
\t\t}
\t}
}
""",
    "shelf.rs": """\
use std::fmt;

/// Keeps books.
#[derive(Debug, Clone)]
pub struct Shelf {
    name: String,
    books: Vec<String>,
}

impl Shelf {
    pub fn new(name: &str) -> Self {
        Shelf { name: name.to_string(), books: vec![] }
    }

    pub fn add(&mut self, book: String, count: usize) -> Result<(), String> {
        if self.books.len() >= 10 {
            return Err(format!("no room for {}", book));
        }
        for _ in 0..count {
            self.books.push(book.clone());
        }
        Ok(())
    }

    fn first(&self) -> Option<&str> {
        match self.books.first() {
            Some(book) if !book.is_empty() => Some(book),
            _ => None,
        }
    }
}

impl fmt::Display for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.books.len())
    }
}
""",
}

TEXTS = {
    "shelf.toml": """\
[project]
name = "shelf-api"
version = "1.4.0"
released = 2024-01-05
requires-python = ">=3.11,<4"
dependencies = [
    "flask==2.3.1",
    "attrs>=23.2",
]

[server]
address = "10.0.0.1:8080"
url = "https://shelf.example/v1/books?page=1"
timeout = 1.5
""",
    "shelf.yml": """\
on: [push]
env:
  PORT: 8080
  SINCE: 2024-01-05T12:30:00Z
jobs:
  test:
    runs-on: ubuntu-22.04
    container: python:3.11.4-slim
    steps:
      - uses: actions/checkout@v3.5.0
      - uses: actions/setup-python@v4
        with:
          python-version: "3.11"
      - run: pytest --max-fail=1 -n 2
""",
    "Dockerfile": """\
FROM python:3.11.4-slim AS build
ENV PORT=8080 RATE=1.5
RUN apt-get install -y curl=7.88.1-10 && pip install flask==2.3.1
COPY --chmod=0755 bin/run-1 /usr/local/bin/
EXPOSE 8080:80/tcp
""",
    "requirements.txt": """\
# Pinned on 2024-01-05.
flask==2.3.1
attrs>=23.2,<24
requests[socks]~=2.31.0; python_version < "3.12"
git+https://shelf.example/x.git@v1.0.2#egg=x-1
""",
    "CHANGELOG.md": """\
# Changes

## 1.4.0 (2024-01-05)

- `--max-depth 3` is the default, and a page has 1,000 books (50% more).
- See https://shelf.example/v1.4/notes.html#new-2 for more.

## 1.3.2 (2023-11-30)

- Python 3.8.1 or later is needed; `shelf-api` 0.9 is not.
""",
}
"""Other files: `structured` merges few of these or none."""
FILES = SOURCES | TEXTS


@pytest.fixture(scope="module")
def edits():
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("random_edits", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("strategy", ["structured", "tokens", "cascade", "union"])
@pytest.mark.parametrize("path", FILES)
@given(seed=indices())
def test_every_accepted_file_is_made_of_what_the_versions_have(edits, path, strategy, seed):
    """No value is invented. But for a union, it parses and keeps what both sides kept."""
    edits.PROGRAMS = {}  # the benchmark asks the compilers
    versions = edits.make_versions(seed, path, FILES[path].encode())

    assert edits.find_damage(path, versions, strategy, Counter()) == ""


@pytest.mark.parametrize("path", FILES)
def test_the_edits_produce_conflicts_that_are_merged(edits, path):
    """Otherwise the property above would hold for no reason."""
    counts = Counter()
    strategy = "structured" if path in SOURCES else "tokens"
    for seed in range(200):
        versions = edits.make_versions(seed, path, FILES[path].encode())
        edits.find_damage(path, versions, strategy, counts)

    assert min(counts[f"{strategy} accepted"], counts[f"{strategy} declined"]) > 2

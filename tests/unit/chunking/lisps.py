"""One compact file for each Lisp that has rules, and the qualified names that it defines."""

from __future__ import annotations

CLOJURE = """
(ns harbour.ropes)
(def ^:private limit 2)
(defn ^{:see-also ["a"]}
  moor!
  "Moors, as in
(defn example [x])"
  [ship])
(defn- ^:no-doc quay->rope ^String [quay] (str quay))
#?(:cljs (defn browse []))
#_(defn gone [])
(defmacro quickly [] 1)
(defprotocol Bollard (tie [this] "Ties."))
(defrecord Ring [size] ; of iron
  Bollard
  (tie [this] size))
(extend-type Baz Bollard (tie [this] 1))
(s/def ::size int?)
(call (defn hidden []))
(defmethod area :round [_] 1)
"""

ELISP = """
;;; harbour.el --- Ropes  -*- lexical-binding:t -*-
(require 'cl-lib)
(defcustom harbour-depth t
  "Whether it is deep."
  :type 'boolean)
(defvar harbour--ships nil)
;;;###autoload
(defun harbour-moor (ship &optional rope)
  (if (eq rope ?\\() (user-error "No \\"%s\\"" ship) (mapcar (##tie %) ship)))
(cl-defmethod harbour-tie ((ship harbour-ship)) ship)
(defun (setf harbour-rope) (rope) rope)
(transient-define-prefix harbour-dispatch ()
  [("x" "a" harbour-moor)])
(define-key map (kbd "x") 'harbour-moor)
(define-minor-mode harbour-mode "Ropes.")
(defalias 'harbour-old #'harbour-moor)
(cl-defstruct (harbour-ship (:constructor build)) mast)
(default-value 'x)
(put 'harbour-moor 'safe t)
"""

LISP = """
(defpackage :harbour)
(defparameter *depth* 3)
(defclass ship () ((mast)))
(defmethod moor ((ship ship)) (list #\\a ship))
"""

SCHEME = """
(define depth 3)
(define (moor ship) (tie ship))
(define tie (lambda (ship) ship))
(define-syntax quickly (syntax-rules () ((_ a) a)))
(class name: (ship) @mast)
(struct _ @mast)
(define-record-type <ship> (ship mast) ship? (mast mast))
"""

RACKET = """#lang racket
(struct ship (mast))
(define/contract (moor ship) (-> any any) ship)
"""

LISPS: dict[str, tuple[str, str]] = {
    "clojure": (
        CLOJURE,
        "limit moor! quay->rope browse quickly Bollard Bollard.tie Ring Ring.tie Baz Baz.tie area",
    ),
    "elisp": (
        ELISP,
        "harbour-depth harbour--ships harbour-moor harbour-tie harbour-rope harbour-dispatch harbour-mode harbour-old  "
        "harbour-ship",
    ),
    "lisp": (LISP, "harbour *depth* ship moor"),
    "racket": (RACKET, "ship moor"),
    "scheme": (SCHEME, "depth moor tie quickly <ship>"),
}

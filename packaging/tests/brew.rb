# Stands in for `brew install FORMULA` and `brew test FORMULA`: does what the formula says with a
# tarball that is there, in a folder. Words: the formula, the tarball, the folder.
require "digest"
require "fileutils"

FORMULA, TARBALL, PREFIX = ARGV

# A folder of Homebrew's that files are put into.
class Place
  def initialize(path)
    @path = path
    FileUtils.mkdir_p(path)
  end

  def install(what)
    from, to = what.is_a?(Hash) ? what.first : [what, File.basename(what)]
    FileUtils.cp(from, File.join(@path, to))
  end

  def to_s
    @path
  end
end

# What formulas are made of.
class Formula
  PLACES = { bin: "bin", man1: "share/man/man1", doc: "share/doc/loadline",
             bash_completion: "etc/bash_completion.d",
             zsh_completion: "share/zsh/site-functions",
             fish_completion: "share/fish/vendor_completions.d" }.freeze
  FIELDS = %i[desc homepage url version sha256 license].freeze

  class << self
    FIELDS.each do |name|
      define_method(name) { |*value| value.empty? ? @told[name] : tell(name, value) }
    end

    def tell(name, value)
      (@told ||= {})[name] = value.first
    end

    def depends_on(what)
      allowed = [:linux, { arch: :x86_64 }]
      raise "#{what} is not here" unless allowed.include?(what)
    end

    def test(&block)
      define_method(:try, &block)
    end
  end

  PLACES.each { |name, path| define_method(name) { Place.new(File.join(PREFIX, path)) } }

  def version
    self.class.version
  end

  def shell_output(line)
    output = `#{line}`
    raise "#{line} failed" unless $?.success?

    output
  end

  def assert_match(part, text)
    raise "#{part} is not in #{text}" unless text.include?(part)
  end
end

load FORMULA
sum = Digest::SHA256.file(TARBALL).hexdigest
raise "the sum is #{sum}" unless Loadline.sha256 == sum

work = File.join(PREFIX, "work")
FileUtils.mkdir_p(work)
system("tar", "-xzf", TARBALL, "--strip-components=1", "-C", work, exception: true)
Dir.chdir(work) { Loadline.new.install }
Loadline.new.try
puts Loadline.url
